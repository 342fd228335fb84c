"""How the auditor looks into a database that consumers write to, and makes them stand still there.

Consumers know nothing of it. It uses what a database offers anybody: a
trigger that keeps every offset that was stored, and locks that whoever writes has to wait for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final, Protocol

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks.books import Books

STORED: Final = "SELECT topic, partition_id, next_offset FROM stored_offsets ORDER BY seq"
"""Every offset that a trigger kept, oldest first."""


def commits(rows: Iterable[tuple[Any, ...]]) -> list[Commit]:
    """What `STORED` found."""
    return [
        Commit(topic=topic, partition=partition, offset=offset, transactional=False)
        for topic, partition, offset in rows
    ]


class Hold(Protocol):
    """A consumer's transaction that is made to stand still.

    Attributes:
        begun: whether it has begun. One that has is done when it is let go; of one that has not,
            the consumer still has all that it is to write in hand.
    """

    begun: ClassVar[bool]

    def caught(self) -> str | None:
        """What shows that it is there, in words; None until it does."""

    def hinders(self) -> bool:
        """Whether others could not go on if the consumer never did."""

    def awaited(self) -> str | None:
        """Who waits for the transaction, in words; None while nobody is seen to."""

    def next(self) -> None:
        """Let this one go, and wait for the consumer's next."""

    def let_go(self) -> str:
        """Let it go on its way; what became of it, in words."""

    def undo(self) -> str:
        """Have it rolled back; what became of it, in words.

        Raises:
            StageTrouble: this database cannot be made to.
        """

    def close(self) -> None:
        """Hold nothing any more, and leave nothing behind."""


class Audit(Protocol):
    """Our own way into one database."""

    def prepare(self) -> None:
        """Make the tables, and the trigger that keeps what is stored in `offsets`."""

    def look(self) -> list[Commit]:
        """Every offset that was stored, oldest first; as seen last where nobody can say now."""

    def books(self) -> Books:
        """Its rows and balances."""

    def journal(self) -> list[dict[str, Any]]:
        """What readers of rows and balances saw while they changed, as rows of the `journal` table;
        empty where nobody keeps that.
        """

    def hold_commit(self, who: Process) -> Hold:
        """Wait for a commit of a consumer, which then stands still while it is under way."""

    def hold_with_work(self, who: Process) -> Hold:
        """Have a consumer stand still where it can be paused and others go on without it."""
