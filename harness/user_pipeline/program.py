"""A user's pipeline of which only its command, inputs and outputs are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Final, Protocol, TypeVar

import psutil
import psycopg

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import PipelineTrouble, Positions
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.supervisor import Supervisor
from onceproof.harness.user_pipeline.health import Health
from onceproof.harness.user_pipeline.look import Look
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.wait import Stop

T = TypeVar("T")
PROGRAM: Final = "program"
"""What such a pipeline offers to faults: a program that can be killed and paused."""
_UNIDENTIFIED_SECONDS: Final = 20.0
"""Seconds for which an output may contain only effects that name no input."""
AWAY: Final = (UnreadableLog, UnreadableOutput, psycopg.OperationalError)
"""Raised by reading an output while a broker or the database is unavailable."""


class Companion(Protocol):
    """A helper that runs alongside a program."""

    def start(self) -> None:
        """Start it unless it is running."""

    def check(self) -> None:
        """Raise `PipelineTrouble` if it has failed."""

    def close(self) -> None: ...


class Program:
    """A program that is kept running."""

    counted = "changes of its outputs"
    awaited = "a first effect in one of its outputs"
    may_be_restarted = False
    """Whether a hung program is restarted: only if the plan kills it anyway."""

    def __init__(
        self,
        supervisor: Supervisor,
        look: Look,
        stop: Stop,
        health: Health | None = None,
        *,
        prepares: bool = False,
        beside: Sequence[Companion] = (),
    ) -> None:
        """Initialize without starting anything.

        Args:
            health: tells whether it is healthy; None: its first effect does.
            prepares: whether its next process may commit transactions of an ended one.
            beside: started before the program, ended after it.
        """
        self.prepares = prepares
        self.supervisor = supervisor
        self.look = look
        self.health = health
        self._stop = stop
        self._beside = tuple(beside)
        self._unhealthy = False
        self._arrived = 0
        self._read_error = ""
        self._unidentified_since: float | None = None
        self._changes = -1
        self._waits = True

    @property
    def commits(self) -> int:
        """How often its outputs were seen to change."""
        self._read(self.look.size, None)
        return self.look.changes

    def start(self) -> None:
        for one in self._beside:
            one.start()
        self.supervisor.start()

    def kill(self, how: str) -> tuple[Process, int]:
        """SIGKILL all its processes; return the main one, and the number of all."""
        process = self.supervisor.running()
        process.freeze()
        count = process.members()
        process.kill(how)
        return process, count

    def stop(self, how: str) -> Process:
        """Ask it to end, and kill what remains; return its main process."""
        process = self.supervisor.running()
        process.end(how, asked=True)
        return process

    def pause(self) -> Process:
        process = self.supervisor.running()
        process.pause(self._stop)
        return process

    def clients(self, addresses: Collection[str]) -> dict[int, int]:
        """Return its connections to these `host:port` addresses: local port → process id."""
        found = {}
        for pid in self.supervisor.running().pids():
            with suppress(psutil.Error):
                for one in psutil.Process(pid).net_connections("tcp"):
                    end = one.raddr
                    if end and f"{end.ip.removeprefix('::ffff:')}:{end.port}" in addresses:
                        found[one.laddr.port] = pid
        return found

    def alive(self) -> bool:
        return self.supervisor.alive()

    def check(self) -> None:
        """Raise `PipelineTrouble` if it fails repeatedly, or a helper has failed."""
        self.supervisor.check()
        for one in self._beside:
            one.check()

    def flows(self) -> bool:
        """Return whether it is healthy and an effect of an input has arrived.

        Raises:
            PipelineTrouble: effects arrive, but none names an input.
        """
        self._unhealthy = self.health is not None and not self.health.look()
        found = None if self._unhealthy else self._read(self.look.arrived, None)
        if found is None:
            return False
        self._arrived, unidentified, example = found
        if not unidentified or self._arrived:
            self._unidentified_since = None
            return self._arrived > 0
        self._unidentified_since = self._unidentified_since or time.monotonic()
        if time.monotonic() - self._unidentified_since > _UNIDENTIFIED_SECONDS:
            raise PipelineTrouble(
                f"{unidentified} effects arrived, but none has the identity of an input: "
                f"{example}. Use --identity to say where an effect carries the identity of its "
                "input (and --dead-letter-identity for dead letters)."
                if not self.look.keys
                else f"{unidentified} rows arrived, but none has a key that the function in "
                f"--expect-state returns: {example}. Use --upserts to say where a row has its key."
            )
        return False

    def shortly(self) -> str | None:
        """Return its commits and the growth of its outputs, or why they could not be seen."""
        if self._unhealthy and self.health is not None:
            return f"it is not healthy: {self.health.seen}"
        commits = self.commits
        if self._read_error:
            return f"its outputs could not be read: {self._read_error}"
        if not self._arrived:
            return None
        changed, committed = f"its outputs changed {commits} times", self.look.groups.look()
        return f"{committed} offset commits, {changed}" if committed else changed

    def positions(self) -> Positions | None:
        return self._read(self.look.positions, None)

    def idle(self) -> bool:
        """Return whether its outputs are idle."""
        return self._read(self.look.still, False)

    @property
    def rest(self) -> float:
        """Seconds without a change after which its outputs are considered idle."""
        return self.look.rest

    def rests(self) -> bool:
        """Return whether all its inputs have effects, or its outputs are idle."""
        return self._read(self._at_rest, False)

    def _at_rest(self) -> bool:
        return self.look.still() or not self._any_waiting()

    def _any_waiting(self) -> bool:
        # Reading all outputs is slow, so do it only after a change.
        if self.look.changes != self._changes:
            self._changes, self._waits = self.look.changes, self.look.waits()
        return self._waits

    def reached(self) -> int:
        """Return how many inputs have their effects; 0 if that cannot be seen now."""
        return self._read(lambda: self.look.done()[0], 0)

    def has_read_all(self) -> bool:
        """Return whether all inputs have effects, or one process has nothing left to do.

        Outputs are also idle while it restarts or joins its group, so the process must be old
        enough, and its group must not lag.
        """
        return self._read(self._read_all, False)

    def _read_all(self) -> bool:
        still = self.look.still()
        if not self._any_waiting():
            return True
        try:
            is_old_enough = (now() - self.supervisor.running().started_at) / 1e9 >= self.rest
        except PipelineTrouble:
            return False  # it is being restarted
        return still and is_old_enough and not self._behind()

    def _behind(self) -> bool:
        """Return whether its groups have committed, but less than the input contains."""
        ends = {(log.topic, log.partition): log.high_watermark for log in self.look.input_logs()}
        committed = self.look.groups.newest()
        return bool(committed) and any(committed.get(at, end) < end - 1 for at, end in ends.items())

    def holds_back(self) -> str | None:
        """Return why effects may still come, if it is alive and its group does not lag."""
        try:
            done, total = self.look.done()
            behind = self._behind()
        except AWAY:
            return None
        if not self.alive() or behind:
            return None
        return (
            f"{total - done} of {total} inputs lack an effect in at least one output, and so do "
            "records that were sent after it had become idle, so it may still hold effects back. "
            "Wait longer with --settle, or look in its log for why it does not continue. If it "
            "waits for later event times, use --event-time to say where an input has its event time"
        )

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """Write the commits of its groups, the only thing known of it."""
        writer.write_all("positions", self.look.groups.rows())

    def _read(self, look: Callable[[], T], otherwise: T) -> T:
        """Read its outputs; if that fails now, remember the reason for `shortly`."""
        try:
            found = look()
        except AWAY as error:
            self._read_error = str(error)
            return otherwise
        self._read_error = ""
        return found

    def close(self) -> None:
        self.supervisor.close()
        self.look.close()
        for one in self._beside:
            one.close()
