"""A consumer group of a run: its members, and the offsets that it commits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from onceproof.harness.context.pipeline import PipelineParts, Positions
from onceproof.harness.context.run_context import fresh_reader
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.group.hazards import hazards
from onceproof.harness.subjects.group.positions import Committed, GroupPositions, rows_of
from onceproof.harness.subjects.group.sightings import FirstSightings
from onceproof.harness.subjects.group.task import MemberTask
from onceproof.harness.subjects.tasks import Program, Tasks


class Members(Tasks[MemberTask]):
    """The members of one group."""

    counted = "commits of the pipeline"
    awaited = "the group's first offset commit"

    def __init__(
        self,
        tasks: Sequence[MemberTask],
        parts: PipelineParts,
        *,
        program: Program,
        service: Sequence[str] = (),
        positions: Committed | None = None,
    ) -> None:
        """Take the group's tasks; nothing is started yet.

        Args:
            service: command of a service that members call; empty for none.
            positions: the group's committed offsets; None: those in Kafka.
        """
        super().__init__(tasks, parts, program=program)
        self.group = tasks[0].group
        self._topic, self._sink = tasks[0].topic, tasks[0].sink
        self._atomic = tasks[0].commits == "in-transaction"
        self._service = tuple(service)
        self._serving: Process | None = None
        self._positions: Committed = positions or GroupPositions.from_now(
            self.group, partial(fresh_reader, parts.stage)
        )
        self._sightings = FirstSightings()

    def consumer(self, name: str) -> str:
        """Return the client id by which the group's coordinator knows a member."""
        return self._tasks[name].consumer

    def start(self) -> None:
        if self._service and self._serving is None:
            self._serving = self._parts.processes.start("service", self._service)
        super().start()

    def committed(self) -> list[Commit]:
        """Return every commit of the group, oldest first."""
        found = self._positions.look()
        self._sightings.of(found)
        return found

    @property
    def commits(self) -> int:
        return len(self.committed())

    def flows(self) -> bool:
        return self.commits > 0

    def shortly(self) -> str | None:
        return f"{self.commits} offsets committed" if self._running else None

    def positions(self) -> Positions | None:
        found = {(c.topic, c.partition): c.offset for c in self.committed()}
        return found or None

    def idle(self) -> bool:
        """Return True: an open transaction shows in the sink."""
        return True

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        found = self._positions.look()
        first = self._sightings.of(found)
        atomic = self.atomic_with(sink) if self._atomic else ()
        seen = zip(found, first, strict=True)
        writer.write_all("positions", rows_of(seen, self.group, atomic_with=atomic))
        writer.write_all("hazards", self.hazards(recorded, found))

    def atomic_with(self, sink: Sink) -> tuple[str, ...]:
        """Return the names of the sinks whose effects are committed together with the offsets."""
        return (sink.name,)

    def hazards(self, recorded: Recorded, commits: Sequence[Commit]) -> list[dict[str, Any]]:
        log = recorded.lines.get("log", [])
        return hazards(log, topic=self._topic, sink=self._sink, commits=commits)
