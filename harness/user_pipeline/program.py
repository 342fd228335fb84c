"""A pipeline of somebody's own of which nothing is known but its command, its input and outputs."""

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
"""What such a pipeline offers: a program that can be killed and paused."""
_STRANGE: Final = 20.0
"""Seconds for which an output may hold only what names no input."""
AWAY: Final = (UnreadableLog, UnreadableOutput, psycopg.OperationalError)
"""What looking at an output may raise while a broker or the database is away."""


class Beside(Protocol):
    """What a program needs beside it while it is kept running."""

    def start(self) -> None:
        """Start it, unless it runs."""

    def check(self) -> None:
        """Raise `PipelineTrouble` if it has failed."""

    def close(self) -> None:
        """End it."""


class Program:
    """One program, kept running."""

    counted = "times something new in its outputs"
    awaited = "a first effect of one of them"
    may_be_restarted = False
    """Whether one that hangs is ended and started again: a plan may, which kills it anyway."""

    def __init__(
        self,
        supervisor: Supervisor,
        look: Look,
        stop: Stop,
        health: Health | None = None,
        *,
        prepares: bool = False,
        beside: Sequence[Beside] = (),
    ) -> None:
        """Keep what it is made of.

        Args:
            health: tells whether it is up; None: its first effect does.
            prepares: whether another life may commit transactions of one that has ended.
            beside: started before it, and ended behind it.
        """
        self.prepares = prepares
        self.supervisor = supervisor
        self.look = look
        self.health = health
        self._stop = stop
        self._beside = tuple(beside)
        self._down = False
        self._arrived = 0
        self._unseen = ""
        self._strange_since: float | None = None
        self._changes = -1
        self._waits = True

    @property
    def commits(self) -> int:
        """How often a look found something new in its outputs."""
        self._looked(self.look.size, None)
        return self.look.changes

    def start(self) -> None:
        for one in self._beside:
            one.start()
        self.supervisor.start()

    def kill(self, how: str) -> tuple[Process, int]:
        """SIGKILL all of it; returns its life and how many processes that were."""
        process = self.supervisor.running()
        process.freeze()
        count = process.members()
        process.kill(how)
        return process, count

    def stop(self, how: str) -> Process:
        """Ask it to end; what is left of it then is killed. Returns its life."""
        process = self.supervisor.running()
        process.end(how, asked=True)
        return process

    def pause(self) -> Process:
        process = self.supervisor.running()
        process.pause(self._stop)
        return process

    def clients(self, addresses: Collection[str]) -> dict[int, int]:
        """Its connections to these `host:port` addresses: own port → id of the process."""
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
        """Raise `PipelineTrouble` if it fails over and over, or writes what names no input."""
        self.supervisor.check()
        for one in self._beside:
            one.check()

    def flows(self) -> bool:
        """Whether it is up, and an effect of an input has arrived.

        Raises:
            PipelineTrouble: something arrives, and nothing of it names an input.
        """
        self._down = self.health is not None and not self.health.look()
        found = None if self._down else self._looked(self.look.arrived, None)
        if found is None:
            return False
        self._arrived, strangers, example = found
        if not strangers or self._arrived:
            self._strange_since = None
            return self._arrived > 0
        self._strange_since = self._strange_since or time.monotonic()
        if time.monotonic() - self._strange_since > _STRANGE:
            raise PipelineTrouble(
                f"{strangers} effects arrived, and none has the identity of an input: {example}. "
                "Use --identity to say where an effect carries the identity of its input (and "
                "--dead-letter-identity for dead letters)."
                if not self.look.keys
                else f"{strangers} rows arrived, and none has a key that the function in "
                f"--expect-state returns: {example}. Use --upserts to say where a row has its key."
            )
        return False

    def shortly(self) -> str | None:
        """What it committed and how often its outputs grew, or why nothing could be seen."""
        if self._down and self.health is not None:
            return f"it is not up: {self.health.seen}"
        commits = self.commits
        if self._unseen:
            return f"its outputs could not be read: {self._unseen}"
        if not self._arrived:
            return None
        grew, committed = f"its outputs grew {commits} times", self.look.groups.look()
        return f"{committed} positions committed, {grew}" if committed else grew

    def positions(self) -> Positions | None:
        return self._looked(self.look.positions, None)

    def idle(self) -> bool:
        """Whether its outputs have stood still for as long as they may."""
        return self._looked(self.look.still, False)

    @property
    def rest(self) -> float:
        """Seconds for which it may stand still between two writes."""
        return self.look.rest

    def rests(self) -> bool:
        """Whether all its inputs have their effects, or its outputs have stood still that long."""
        return self._looked(self._at_rest, False)

    def _at_rest(self) -> bool:
        return self.look.still() or not self._some_wait()

    def _some_wait(self) -> bool:
        # Reading everything takes its time: only what has changed is looked at again.
        if self.look.changes != self._changes:
            self._changes, self._waits = self.look.changes, self.look.waits()
        return self._waits

    def reached(self) -> int:
        """How many inputs have their effects; 0 where that cannot be seen now."""
        return self._looked(lambda: self.look.done()[0], 0)

    def has_read_all(self) -> bool:
        """Whether all its inputs have their effects, or one life has nothing to do any more.

        Outputs stand still too while it ends and starts again, or joins its group.
        """
        return self._looked(self._read_all, False)

    def _read_all(self) -> bool:
        still = self.look.still()
        if not self._some_wait():
            return True
        try:
            lasts = (now() - self.supervisor.running().started_at) / 1e9 >= self.rest
        except PipelineTrouble:
            return False  # it is being started again
        return still and lasts and not self._behind()

    def _behind(self) -> bool:
        """Whether its groups have committed less than the input holds, if they commit at all."""
        ends = {(log.topic, log.partition): log.high_watermark for log in self.look.input_logs()}
        committed = self.look.groups.newest()
        return bool(committed) and any(committed.get(at, end) < end - 1 for at, end in ends.items())

    def holds_back(self) -> str | None:
        """That it is alive, has read everything as far as its group says, and may write it yet."""
        try:
            done, there = self.look.done()
            behind = self._behind()
        except AWAY:
            return None
        if not self.alive() or behind:
            return None
        return (
            f"{there - done} of {there} inputs have no effect in every output, and neither have "
            "records that were sent when it had come to rest, so it may still hold back; let it "
            "stand still for longer with --settle, or see in its log why it does not go on. If it "
            "waits for later event times, say with --event-time where an input has its own"
        )

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """It records nothing itself; only what its groups committed is known."""
        writer.write_all("positions", self.look.groups.rows())

    def _looked(self, look: Callable[[], T], otherwise: T) -> T:
        """What is seen of its outputs; where that is nothing now, `shortly` tells the reason."""
        try:
            found = look()
        except AWAY as error:
            self._unseen = str(error)
            return otherwise
        self._unseen = ""
        return found

    def close(self) -> None:
        self.supervisor.close()
        self.look.close()
        for one in self._beside:
            one.close()
