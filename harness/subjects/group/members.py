"""A consumer group of a run: its members, started, killed, paused, and started again.

The one thing to know: a member that ends by itself, because it was fenced or its client hung, is
started again, as anybody's deployment does. One that a fault has killed waits for its healing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from harness.bench import open_reader
from harness.kafka.group_offsets import Commit
from harness.kafka.metadata import ClusterView
from harness.recording.tables import Recorded
from harness.recording.writer import HistoryWriter
from harness.sinks.base import Sink
from harness.stage.processes import Process
from harness.stage.topology import AUDITOR, node_id
from harness.subjects.group.hazards import hazards
from harness.subjects.group.positions import Committed, GroupPositions, row_of
from harness.subjects.group.sightings import Sightings
from harness.subjects.group.task import MemberTask
from harness.subjects.pipeline import PipelineParts, PipelineTrouble, Positions

Program = Callable[[Path], Sequence[str | Path]]
LIVES: Final = 12
"""A group whose members end by themselves more often than this does not work."""
_LOOK_EVERY: Final = 0.1


class Members:
    """The members of one group."""

    counted = "commits of the pipeline"
    awaited = "a first commit of the group"

    def __init__(
        self,
        tasks: Sequence[MemberTask],
        parts: PipelineParts,
        *,
        program: Program,
        service: Sequence[str] = (),
        positions: Committed | None = None,
    ) -> None:
        """Nothing is started yet.

        Args:
            tasks: one for each member, all of one group.
            parts: what it is made from.
            program: the command that starts a member with the file of its task.
            service: command of a service that members call; none if it is empty.
            positions: where it commits; None: in Kafka.
        """
        self.group = tasks[0].group
        self._tasks = {task.name: task for task in tasks}
        self._topic, self._sink = tasks[0].topic, tasks[0].sink
        self._atomic = tasks[0].commits == "in-transaction"
        self._parts = parts
        self._program = program
        self._service = tuple(service)
        self._running: dict[str, Process] = {}
        self._down: set[str] = set()
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._trouble: str | None = None
        addresses = {
            node_id(name): parts.stage.bootstrap(AUDITOR, name) for name in parts.stage.brokers
        }
        self._positions: Committed = positions or GroupPositions(
            self.group, lambda: open_reader(parts.stage, ClusterView(addresses))
        )
        self._sightings = Sightings()
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    @property
    def names(self) -> tuple[str, ...]:
        """Who belongs to it."""
        return tuple(self._tasks)

    def consumer(self, name: str) -> str:
        """Client id by which the group knows a member."""
        return self._tasks[name].consumer

    def start(self) -> None:
        """Start every member that does not run, and look after them from now on."""
        if self._service and "service" not in self._running:
            self._running["service"] = self._parts.processes.start("service", self._service)
        for name in self._tasks:
            self.restart(name)
        if not self._keeper.is_alive():
            self._keeper.start()

    def restart(self, name: str) -> None:
        """Start a member, unless it runs."""
        with self._lock:
            self._down.discard(name)
            process = self._running.get(name)
            if process is None or not process.leader_alive():
                self._begin(name)

    def process(self, name: str) -> Process:
        """The member's life now.

        Raises:
            PipelineTrouble: it does not run.
        """
        process = self._running.get(name)
        if process is None or not process.leader_alive():
            raise PipelineTrouble(f"{name} does not run")
        return process

    def kill(self, name: str, how: str) -> Process:
        """SIGKILL a member; it stays down until `restart`."""
        return self._end(name, how, asked=False)

    def stop(self, name: str, how: str) -> Process:
        """Ask a member to end; it stays down until `restart`."""
        return self._end(name, how, asked=True)

    def pause(self, name: str) -> Process:
        """Stop a member in its tracks."""
        process = self.process(name)
        process.pause(self._parts.stop)
        return process

    def committed(self) -> list[Commit]:
        """Every position that the group has committed, oldest first."""
        found = self._positions.look()
        self._sightings.of(found)
        return found

    @property
    def commits(self) -> int:
        """How many positions the group has committed."""
        return len(self.committed())

    def alive(self) -> bool:
        """Whether any member runs."""
        return any(self._running[n].leader_alive() for n in self._tasks if n in self._running)

    def check(self) -> None:
        """Raise `PipelineTrouble` if members end by themselves again and again."""
        if self._trouble is not None:
            raise PipelineTrouble(self._trouble)

    def flows(self) -> bool:
        """Whether a position was committed."""
        return self.commits > 0

    def shortly(self) -> str | None:
        """How many positions were committed."""
        return f"{self.commits} positions committed" if self._running else None

    def positions(self) -> Positions | None:
        """The newest position in each partition."""
        found = {(c.topic, c.partition): c.offset for c in self.committed()}
        return found or None

    def idle(self) -> bool:
        """Always as far as it can be told: an open transaction shows in the sink."""
        return True

    def collect(self, writer: HistoryWriter, told: Recorded, sink: Sink) -> None:
        """Every position that it committed, in order, and what put it to the test."""
        found = self._positions.look()
        first = self._sightings.of(found)
        atomic = self.atomic_with(sink) if self._atomic else ()
        roles = (("resume", None), *(("atomic", name) for name in atomic))
        writer.write_all(
            "positions",
            [
                row_of(commit, self.group, role=role, ordinal=ordinal, at=at, sink=name)
                for ordinal, ((commit, at), (role, name)) in enumerate(
                    product(zip(found, first, strict=True), roles)
                )
            ],
        )
        writer.write_all("hazards", self.hazards(told, found))

    def atomic_with(self, sink: Sink) -> tuple[str, ...]:
        """Names of the sinks that positions stand or fall with."""
        return (sink.name,)

    def hazards(self, told: Recorded, commits: Sequence[Commit]) -> list[dict[str, Any]]:
        """What put it to the test, as rows of the `hazards` table."""
        log = told.lines.get("log", [])
        return hazards(log, topic=self._topic, sink=self._sink, commits=commits)

    def close(self) -> None:
        """Look after nobody any more."""
        self._over.set()
        if self._keeper.is_alive():
            self._keeper.join(5)

    def _end(self, name: str, how: str, *, asked: bool) -> Process:
        with self._lock:
            self._down.add(name)
            process = self.process(name)
        process.end(how, asked=asked)
        return process

    def _begin(self, name: str) -> None:
        task: Path = self._parts.work / f"{name}.json"
        self._tasks[name].save(task)
        self._running[name] = self._parts.processes.start(name, self._program(task))

    def _keep(self) -> None:
        """Start again who ended by itself."""
        lives = 0
        while not self._over.wait(_LOOK_EVERY) and not self._parts.stop.is_set():
            with self._lock:
                for name in self._tasks:
                    process = self._running[name]
                    if self._over.is_set() or name in self._down or process.leader_alive():
                        continue
                    if process.ending:
                        continue  # it is being torn down
                    process.note_exit()
                    lives += 1
                    if lives > LIVES:
                        self._trouble = (
                            f"members ended by themselves {lives} times; {process.instance} "
                            f"said last: {process.tail()}"
                        )
                        return
                    self._begin(name)
