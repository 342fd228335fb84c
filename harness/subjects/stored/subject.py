"""Consumers that write payments to a ledger and add them to balances, in a database.

They write their offsets in the same transaction. The broken twins commit them in Kafka, before or
after the write, or update them without comparing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.system import System
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.sinks import books
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.group.base import MEMBER
from onceproof.harness.subjects.group.clients import LIBRDKAFKA
from onceproof.harness.subjects.stored import journal
from onceproof.harness.subjects.stored.audit import Audit
from onceproof.harness.subjects.stored.audit_postgres import PostgresAudit
from onceproof.harness.subjects.stored.audit_sqlite import SqliteAudit
from onceproof.harness.subjects.stored.members import StoringMembers
from onceproof.harness.subjects.stored.postgres import IDLE_MS
from onceproof.harness.subjects.stored.task import Kind, StoringTask
from onceproof.harness.tools.runtimes.known import POSTGRESQL
from onceproof.harness.wait import Stop

COMMITS: Final = "commits"
"""Offered to faults: commits into a database that can be held."""
Offsets = Literal["in-transaction", "before", "after"]

_DATABASES: Final[dict[Kind, str]] = {"postgres": "PostgreSQL", "sqlite": "SQLite"}
_SAYS: Final[dict[Offsets, str]] = {
    "in-transaction": (
        "Consumers that write payments, balances and their offsets into {} in one transaction, and "
        "start from the stored offsets: exactly-once."
    ),
    "before": (
        "The broken twin: consumers that commit their offsets in Kafka, then write into {}: "
        "at-most-once only."
    ),
    "after": (
        "The broken twin: consumers that write into {}, then commit their offsets in Kafka: "
        "at-least-once only."
    ),
}
_NO_GUARD: Final = (
    " The broken twin: they update the stored offset without comparing it, and so add payments "
    "twice."
)
_CLEANED: Final = (
    " They delete duplicated rows in another transaction: the final state is correct, but until "
    "then readers see the duplicates."
)


@dataclass(frozen=True, kw_only=True)
class StoringConsumers(SubjectBase):
    """Consumers under test; with `cleans` they delete duplicated rows in another transaction."""

    kind: Kind = "postgres"
    commits: Offsets = "in-transaction"
    guard: bool = True
    cleans: bool = False
    members: int = 2
    group: str = "billing"
    topic: str = "payments"

    sink = books.BALANCES
    balances = True
    view = books.VIEW

    @property
    def sinks(self) -> tuple[str, ...]:
        """The ledger; and with a journal, what readers saw of ledger and balances."""
        seen = (journal.LEDGER, journal.BALANCES) if self.kind == "postgres" else ()
        return (books.LEDGER, *seen)

    def __post_init__(self) -> None:
        if self.cleans and self.commits != "after":
            raise ValueError("cleans=True requires commits='after': others write no duplicates")

    @property
    def name(self) -> str:
        """For example `stored-offsets-postgres`, `kafka-offsets-before-postgres`."""
        if self.commits != "in-transaction":
            cleaned = "-cleaned" if self.cleans else ""
            return f"kafka-offsets-{self.commits}-{self.kind}{cleaned}"
        return f"stored-offsets-{self.kind}" + ("" if self.guard else "-unguarded")

    @property
    def system(self) -> System:
        return System.DATABASE

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"librdkafka", POSTGRESQL} if self.kind == "postgres" else {"librdkafka"})

    @property
    def says(self) -> str:
        says = _SAYS[self.commits].format(_DATABASES[self.kind])
        if self.cleans:
            return f"{says}{_CLEANED}"
        return says if self.guard else f"{says}{_NO_GUARD}"

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({MEMBER, COMMITS})

    def configuration(self) -> Mapping[str, Any]:
        where = "in the database" if self.commits == "in-transaction" else "in Kafka"
        session = {"idle_in_transaction_session_timeout": IDLE_MS}
        return {
            "members": {"number": self.members, "offsets": f"{where}, {self.commits}"},
            "member's consumer": LIBRDKAFKA.consumer,
            **({"member's database session": session} if self.kind == "postgres" else {}),
        }

    def pipeline(self, parts: PipelineParts) -> StoringMembers:
        """Return the consumers.

        Raises:
            StageTrouble: the stage has no database.
        """
        database = str(_file(parts.work))
        if self.kind == "postgres":
            database = parts.stage.database("pipeline")
            if not database:
                raise StageTrouble(
                    f"{self.name} writes to PostgreSQL, but the stage has none: add "
                    '`database = "host=… dbname=…"` to the cluster\'s file, or use '
                    "stored-offsets-sqlite"
                )
        audit = self._audit(parts.stage.database(AUDITOR), parts.work, parts.topic, parts.stop)
        tasks = [
            StoringTask(
                name=f"member-{number}",
                bootstrap=parts.stage.bootstrap("pipeline"),
                group=self.group,
                topic=parts.topic,
                sink=books.LEDGER,
                commits=self.commits,
                kind=self.kind,
                database=database,
                history=str(parts.history),
                in_hand=str(parts.work / f"member-{number}.in-hand"),
                guard=self.guard,
                cleans=self.cleans,
            )
            for number in range(self.members)
        ]
        return StoringMembers(tasks, parts, audit)

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return self._audit(database, work, self.topic, Stop()).books()

    def _audit(self, database: str, work: Path, topic: str, stop: Stop) -> Audit:
        if self.kind == "postgres":
            return PostgresAudit(database, topic=topic, owner=self.group, stop=stop)
        return SqliteAudit(_file(work), topic=topic, owner=self.group)


def _file(work: Path) -> Path:
    return work / "books.db"
