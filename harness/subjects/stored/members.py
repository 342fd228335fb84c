"""A consumer group of a run that keeps offsets and effects in a database, and our access to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.processes.python import python_module
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.books import BALANCES, LEDGER
from onceproof.harness.subjects.group.members import Members
from onceproof.harness.subjects.stored import journal
from onceproof.harness.subjects.stored.audit import Audit, Hold
from onceproof.harness.subjects.stored.hazards import hazards
from onceproof.harness.subjects.stored.read_progress import left, noted
from onceproof.harness.subjects.stored.task import StoringTask
from onceproof.harness.subjects.tasks import Program
from onceproof.harness.tools.setup import Tools


class StoringMembers(Members):
    """The consumers of one group, and the auditor's access to their database."""

    def __init__(
        self,
        tasks: Sequence[StoringTask],
        parts: PipelineParts,
        audit: Audit,
        *,
        program: Program | None = None,
    ) -> None:
        """Take the tasks; `program` None: that of our own consumers."""
        stored = tasks[0].commits == "in-transaction"
        super().__init__(
            tasks,
            parts,
            program=program or program_of(parts.tools),
            positions=audit if stored else None,
        )
        self.audit = audit
        self._notes = {task.name: Path(task.in_hand) for task in tasks}
        self._prepared = False
        self._journal: list[dict[str, Any]] = []

    def start(self) -> None:
        if not self._prepared:
            self.audit.prepare()
            self._prepared = True
        super().start()

    def hold_commit(self, name: str) -> Hold:
        """See `Audit.hold_commit`.

        Raises:
            PipelineTrouble: the member is not running.
        """
        return self.audit.hold_commit(self.process(name))

    def hold_with_work(self, name: str) -> Hold:
        """See `Audit.hold_with_work`.

        Raises:
            PipelineTrouble: the member is not running.
        """
        return self.audit.hold_with_work(self.process(name))

    def in_hand(self, name: str) -> int:
        """Return how many records, at least, a member has read and not stored, by its own notes."""
        stored = {partition: end for (_, partition), end in (self.positions() or {}).items()}
        return left(noted(self._notes[name]), stored)

    def atomic_with(self, sink: Sink) -> tuple[str, ...]:
        """Return rows and balances, in every view."""
        return (LEDGER, BALANCES, journal.LEDGER, journal.BALANCES)

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """Write what readers saw, then what every group writes."""
        self._journal = self.audit.journal()
        writer.write_all("journal", self._journal)
        super().collect(writer, recorded, sink)

    def hazards(self, recorded: Recorded, commits: Sequence[Commit]) -> list[dict[str, Any]]:
        """Return the hazards counted in the ledger; a consumer records refused writes itself."""
        log, effects = recorded.lines.get("log", []), recorded.lines.get("effects", [])
        return hazards(log, effects, self._journal, topic=self._topic, commits=commits)


def program_of(tools: Tools) -> Program:
    """Return the command of a consumer, by its task file."""
    python = tools.chosen.pythons.get("librdkafka")

    def command(task: Path) -> Sequence[str | Path]:
        return [*python_module("onceproof.harness.subjects.stored.member", python=python), task]

    return command
