"""Write a batch to a database: rows, balances and offsets in one transaction.

The offset is compared before it is updated, so a consumer that started from another one is refused:
a zombie, a successor that read it too early, or a consumer that retries a committed batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from onceproof.harness.subjects.stored.batch import Batch

_ROW: Final = (
    "INSERT INTO ledger (record, account, amount_cents, fee_cents, source_partition, "
    "source_offset) VALUES (?, ?, ?, ?, ?, ?)"
)
_BALANCE: Final = (
    "INSERT INTO balances (account, balance, payments) VALUES (?, ?, ?) "
    "ON CONFLICT (account) DO UPDATE SET balance = balances.balance + excluded.balance, "
    "payments = balances.payments + excluded.payments"
)
_COMPARED: Final = (
    "UPDATE offsets SET next_offset = ? WHERE topic = ? AND partition_id = ? AND next_offset = ?"
)
_MOVED: Final = "UPDATE offsets SET next_offset = ? WHERE topic = ? AND partition_id = ?"
_STORED: Final = "SELECT next_offset FROM offsets WHERE topic = ? AND partition_id = ?"
_FIRST: Final = (
    "INSERT INTO offsets (topic, partition_id, next_offset) VALUES (?, ?, 0) ON CONFLICT DO NOTHING"
)
_SURPLUS: Final = (
    " WHERE record IN ({}) AND seq > (SELECT min(seq) FROM ledger first "
    "WHERE first.record = ledger.record)"
)
_SURPLUS_SUMS: Final = "SELECT sum(amount_cents), count(*), account FROM ledger"
_EACH: Final = " GROUP BY account ORDER BY account"
_SUBTRACTED: Final = (
    "UPDATE balances SET balance = balance - ?, payments = payments - ? WHERE account = ?"
)


class Refused(Exception):
    """The stored offset differs from the batch's start; nothing was written."""


class Unreachable(Exception):
    """The database did not answer: the outcome of the transaction is unknown."""


class Cursor(Protocol):
    """What the database drivers have in common (PEP 249)."""

    @property
    def rowcount(self) -> int:
        """Number of rows that the last statement changed."""

    def execute(self, query: Any, params: Sequence[Any] = ..., /) -> Any:
        """Run a statement."""

    def executemany(self, query: Any, params: Iterable[Sequence[Any]], /) -> Any:
        """Run a statement once per parameter set."""

    def fetchone(self) -> Any:
        """Return the next row of the result."""


class Store(ABC):
    """A database of rows, balances and offsets."""

    mark = "?"
    """Placeholder of a parameter in a statement."""

    def __init__(self, *, guard: bool) -> None:
        self._guard = guard

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Cursor]:
        """Return a transaction that commits at the end of the block, and rolls back on an error.

        Raises:
            Unreachable: it could not begin, or its outcome is unknown.
        """

    def reading(self) -> AbstractContextManager[Cursor]:
        """Return a transaction that only reads, and does not wait for writers.

        Raises:
            Unreachable: the database does not answer.
        """
        return self.transaction()

    def stored(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """Return the next offset of each partition; 0 if none was stored.

        Raises:
            Unreachable: the database does not answer.
        """
        wanted = sorted(partitions)
        with self.reading() as cursor:
            found = {partition: self._look(cursor, topic, partition) for partition in wanted}
        if None in found.values():
            with self.transaction() as cursor:
                for partition in wanted:
                    cursor.execute(self._with_marks(_FIRST), (topic, partition))
                    found[partition] = self._look(cursor, topic, partition)
        return {partition: offset or 0 for partition, offset in found.items()}

    def _look(self, cursor: Cursor, topic: str, partition: int) -> int | None:
        cursor.execute(self._with_marks(_STORED), (topic, partition))
        row = cursor.fetchone()
        return None if row is None else int(row[0])

    def write(self, batch: Batch, *, offsets: bool) -> None:
        """Write a batch in one transaction.

        Args:
            offsets: also store the batch's end offsets.

        Raises:
            Refused: the batch does not start at the stored offset.
            Unreachable: the outcome is unknown.
        """
        with self.transaction() as cursor:
            if offsets:
                for partition in sorted(batch.ends):
                    self._move(cursor, batch, partition)
            cursor.executemany(self._with_marks(_ROW), batch.rows)
            cursor.executemany(self._with_marks(_BALANCE), batch.totals())

    def clean(self, batch: Batch) -> None:
        """Keep one row of each payment in a batch, and subtract the others from balances.

        Raises:
            Unreachable: the outcome is unknown.
        """
        records = [row[0] for row in batch.rows]
        surplus = _SURPLUS.format(", ".join("?" * len(records)))
        with self.transaction() as cursor:
            cursor.execute(self._with_marks(_SURPLUS_SUMS + surplus + _EACH), records)
            surplus_sums = list(iter(cursor.fetchone, None))
            cursor.executemany(self._with_marks(_SUBTRACTED), surplus_sums)
            cursor.execute(self._with_marks("DELETE FROM ledger" + surplus), records)

    def _move(self, cursor: Cursor, batch: Batch, partition: int) -> None:
        end, start = batch.ends[partition], batch.starts[partition]
        if not self._guard:
            cursor.execute(self._with_marks(_MOVED), (end, batch.topic, partition))
            return
        cursor.execute(self._with_marks(_COMPARED), (end, batch.topic, partition, start))
        if cursor.rowcount != 1:
            raise Refused(
                f"{batch.topic}-{partition} from {start} to {end}: the stored offset differs"
            )

    def _with_marks(self, statement: str) -> str:
        return statement.replace("?", self.mark)
