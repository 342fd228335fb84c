"""A consumer that stores the effects of a trial's records, and its offsets, in a database."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import psycopg
from psycopg.conninfo import make_conninfo

from onceproof.checkers import Claim, exactly_once
from onceproof.harness.explore.bench.lanes.copier import CopierLane
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks import books
from onceproof.harness.sinks.base import Effect
from onceproof.harness.subjects.stored.audit import Audit
from onceproof.harness.subjects.stored.audit_postgres import PostgresAudit
from onceproof.harness.subjects.stored.audit_sqlite import SqliteAudit
from onceproof.harness.subjects.stored.members import program_of
from onceproof.harness.subjects.stored.task import Kind, StoringTask


@dataclass(kw_only=True)
class StoredLane(CopierLane):
    """A group of one with a database of its own, whose rows are judged.

    The broken twin commits its offsets in Kafka, after its rows.
    """

    at_once: ClassVar[bool] = False
    only_reads: ClassVar[bool] = True
    kind: ClassVar[Kind]

    @property
    def topics(self) -> dict[str, int]:
        return {self.source: super().topics[self.source]}

    def claims(self) -> Sequence[Claim]:
        return [exactly_once(self.source, into=self.output, view=books.VIEW)]

    @cached_property
    @abstractmethod
    def _database(self) -> str:
        """How the consumer connects."""

    @cached_property
    @abstractmethod
    def _audit(self) -> Audit: ...

    def prepare(self, reader: LogReader) -> None:
        super().prepare(reader)
        self._audit.prepare()

    def _begin(self, member: str, client_id: str) -> Process:
        task = StoringTask(
            **self._places(client_id),
            batch=self.load.records,
            kind=self.kind,
            database=self._database,
            history=str(self.around.history),
            in_hand=str(self.around.work / f"{client_id}.in-hand"),
        )
        return self._start(task, program_of(self.around.tools))

    @property
    def _stores(self) -> bool:
        """Whether its offsets are in the database."""
        return self.commits == "in-transaction"

    def _offsets_so_far(self) -> Mapping[int, int]:
        if not self._stores:
            return super()._offsets_so_far()
        return {commit.partition: commit.offset for commit in self._audit.look()}

    def positions(self, reader: LogReader) -> list[Commit]:
        """Return the offsets that were stored, oldest first."""
        return self._audit.look() if self._stores else super().positions(reader)

    def effects(self, reader: LogReader) -> Iterable[Effect]:
        """Return the rows; each lane has a ledger of its own."""
        return (replace(row, sink=self.output) for row in self._audit.books().effects())


@dataclass(kw_only=True)
class SqliteLane(StoredLane):
    """Its database is a file."""

    kind: ClassVar[Kind] = "sqlite"

    @cached_property
    def _database(self) -> str:
        return str(self.around.work / f"{self.name}.db")

    @cached_property
    def _audit(self) -> Audit:
        return SqliteAudit(Path(self._database), topic=self.source, owner=self.group_id)


@dataclass(kw_only=True)
class PostgresLane(StoredLane):
    """Its database is on the PostgreSQL server of the stage."""

    kind: ClassVar[Kind] = "postgres"

    @cached_property
    def _database(self) -> str:
        return make_conninfo(self.around.database("pipeline"), dbname=self.name)

    @cached_property
    def _audit(self) -> Audit:
        return PostgresAudit(
            make_conninfo(self.around.database(AUDITOR), dbname=self.name),
            topic=self.source,
            owner=self.group_id,
            stop=self.around.stop,
        )

    def prepare(self, reader: LogReader) -> None:
        self._on_server(f"CREATE DATABASE {self.name}")
        super().prepare(reader)

    def collect(self, writer: HistoryWriter, reader: LogReader) -> None:
        """Collect what is judged, and remove the database: an empty one has several megabytes."""
        super().collect(writer, reader)
        self._on_server(f"DROP DATABASE {self.name} WITH (FORCE)")

    def _on_server(self, statement: str) -> None:
        with psycopg.connect(self.around.database(AUDITOR), autocommit=True) as connection:
            connection.execute(statement)
