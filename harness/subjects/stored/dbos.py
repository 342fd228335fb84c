"""DBOS: durable workflows that write payments to a ledger and add them to balances.

DBOS stores each message as a workflow before its offset is committed, so workflows may be due when
the group has read everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.system import System
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.python import programs
from onceproof.harness.sinks import books
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.group.base import MEMBER
from onceproof.harness.subjects.group.task import SESSION_TIMEOUT_MS
from onceproof.harness.subjects.stored import journal
from onceproof.harness.subjects.stored.audit_postgres import PostgresAudit
from onceproof.harness.subjects.stored.members import StoringMembers
from onceproof.harness.subjects.stored.subject import COMMITS
from onceproof.harness.subjects.stored.task import StoringTask
from onceproof.harness.tools.runtimes.known import POSTGRESQL
from onceproof.harness.wait import Stop

_PROGRAM: Final = "dbos_ledger"
_CONSUMER: Final[Mapping[str, Any]] = {
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
    "session.timeout.ms": SESSION_TIMEOUT_MS,
    "heartbeat.interval.ms": 1000,
    "auto.commit.interval.ms": 500,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
}
_DUE: Final = (
    "SELECT count(*) FROM dbos.workflow_status "
    "WHERE status NOT IN ('SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')"
)


@dataclass(frozen=True, kw_only=True)
class DbosTask(StoringTask):
    """The task of one executor.

    Attributes:
        url: of the database, as `postgresql://`.
        transactional: whether a step is a transaction of a DBOS datasource.
        settings: librdkafka's settings.
    """

    url: str
    transactional: bool
    settings: Mapping[str, Any] = field(default_factory=dict)


class Executors(StoringMembers):
    """The executors of one application."""

    def idle(self) -> bool:
        """Return whether no workflow is due; False while the database does not answer."""
        with suppress(psycopg.Error):
            with psycopg.connect(self._parts.stage.database(AUDITOR)) as connection:
                row = connection.execute(_DUE).fetchone()
            return row is not None and row[0] == 0
        return False


@dataclass(frozen=True, kw_only=True)
class DbosWorkflows(SubjectBase):
    """Workflows under test; `transactional`: their step is a transaction of a DBOS datasource."""

    transactional: bool = True
    members: int = 2
    group: str = "billing"
    topic: str = "payments"

    sink = books.BALANCES
    balances = True
    view = books.VIEW

    @property
    def sinks(self) -> tuple[str, ...]:
        return (books.LEDGER, journal.LEDGER, journal.BALANCES)

    @property
    def name(self) -> str:
        return f"dbos-{'transaction' if self.transactional else 'step'}"

    @property
    def system(self) -> System:
        return System.DATABASE

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({POSTGRESQL})

    @property
    def says(self) -> str:
        if self.transactional:
            return (
                "DBOS workflows, one for each message, whose step writes payments and balances in "
                "a transaction of a DBOS datasource, with its own result: exactly-once."
            )
        return (
            "The broken twin: DBOS workflows whose plain step writes payments and balances; DBOS "
            "records its result afterwards: at-least-once only."
        )

    @property
    def plain_text(self) -> bool:
        """True: its program has no settings for TLS or SASL."""
        return True

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({MEMBER, COMMITS})

    def configuration(self) -> Mapping[str, Any]:
        return {
            "executors": {
                "number": self.members,
                "version": programs.version_of(_PROGRAM, "dbos"),
                "step": "transaction of a datasource" if self.transactional else "plain",
            },
            "executor's consumer": dict(_CONSUMER),
        }

    def pipeline(self, parts: PipelineParts) -> Executors:
        """Return the executors; raise `SetupError` if their packages cannot be had."""
        database = parts.stage.database("pipeline")
        tasks = [
            DbosTask(
                name=f"member-{number}",
                bootstrap=parts.stage.bootstrap("pipeline"),
                group=self.group,
                topic=parts.topic,
                sink=books.LEDGER,
                commits="automatically",
                kind="postgres",
                database=database,
                history=str(parts.history),
                in_hand=str(parts.work / f"member-{number}.in-hand"),
                url=_url(database),
                transactional=self.transactional,
                settings={
                    **_CONSUMER,
                    "bootstrap.servers": parts.stage.bootstrap("pipeline"),
                    "group.id": self.group,
                    "client.id": f"member-{number}",
                },
            )
            for number in range(self.members)
        ]
        audit = self._audit(parts.stage.database(AUDITOR), parts.topic, parts.stop)
        return Executors(tasks, parts, audit, program=partial(programs.command, _PROGRAM))

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return self._audit(database, self.topic, Stop()).books()

    def _audit(self, database: str, topic: str, stop: Stop) -> PostgresAudit:
        return PostgresAudit(database, topic=topic, owner=self.group, stop=stop, always_open=True)


def _url(database: str) -> str:
    """Return a URL that SQLAlchemy takes; libpq gets its query, so passwords stay in their file."""
    settings = conninfo_to_dict(database)
    place = f"{settings.pop('host')}:{settings.pop('port')}/{settings.pop('dbname')}"
    return f"postgresql://{place}?{urlencode(settings, quote_via=quote)}"
