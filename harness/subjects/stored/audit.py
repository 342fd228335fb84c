"""How the auditor reads the consumers' database, and holds their transactions there.

Consumers are not involved. The auditor uses ordinary features of the database: a trigger that
records every stored offset, and locks that a writer has to wait for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final, Protocol

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks.books import LedgerAndBalances

STORED: Final = "SELECT topic, partition_id, next_offset FROM stored_offsets ORDER BY seq"
"""Query every offset that the trigger recorded, oldest first."""


def commits(rows: Iterable[tuple[Any, ...]]) -> list[Commit]:
    return [
        Commit(topic=topic, partition=partition, offset=offset, transactional=False)
        for topic, partition, offset in rows
    ]


class Hold(Protocol):
    """Holds one consumer's transaction.

    Attributes:
        begun: whether the held transaction has begun. If so, it finishes when released; if not,
            the consumer has everything that it is about to write in hand.
    """

    begun: ClassVar[bool]

    def caught(self) -> str | None:
        """Return what shows that the transaction is held, in words; None until it is."""

    def hinders(self) -> bool:
        """Return whether others would be blocked while the consumer is paused."""

    def awaited(self) -> str | None:
        """Return who waits for the transaction, in words; None if no waiter is visible."""

    def next(self) -> None:
        """Release this transaction, and hold the consumer's next one."""

    def let_go(self) -> str:
        """Release the transaction; return its outcome, in words."""

    def undo(self) -> str:
        """Have the transaction rolled back; return its outcome, in words.

        Raises:
            StageTrouble: this database cannot roll it back.
        """

    def close(self) -> None:
        """Hold nothing any more, and clean up."""


class Audit(Protocol):
    """The auditor's access to one database."""

    def prepare(self) -> None:
        """Create the tables, and the trigger that records changes of `offsets`."""

    def look(self) -> list[Commit]:
        """Return every stored offset, oldest first; the last known ones if the read fails."""

    def books(self) -> LedgerAndBalances:
        """Return a reader of rows and balances."""

    def journal(self) -> list[dict[str, Any]]:
        """Return what readers saw as rows of the `journal` table; empty if no journal is kept."""

    def hold_commit(self, who: Process) -> Hold:
        """Hold the consumer's next commit while it is in progress."""

    def hold_with_work(self, who: Process) -> Hold:
        """Hold the consumer where it can be paused without blocking others."""
