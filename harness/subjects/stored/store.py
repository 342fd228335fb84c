"""How a batch gets into a database: rows, balances and offsets in one transaction.

The offset is compared before it is moved, in the transaction of the rows.
Whoever started from an offset that is no longer the stored one is refused, whatever it believes to
be: a zombie, a successor that looked too early, or the same consumer that tries again what had been
committed after all.
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
_TOO_MUCH: Final = "SELECT sum(amount_cents), count(*), account FROM ledger"
_EACH: Final = " GROUP BY account ORDER BY account"
_TAKEN: Final = (
    "UPDATE balances SET balance = balance - ?, payments = payments - ? WHERE account = ?"
)


class Refused(Exception):
    """The stored offset is another one than the batch starts from; nothing was written."""


class Unreachable(Exception):
    """The database did not answer: nobody knows whether what was under way has happened."""


class Cursor(Protocol):
    """What databases offer alike."""

    @property
    def rowcount(self) -> int:
        """How many rows the last statement touched."""

    def execute(self, query: Any, params: Sequence[Any] = ..., /) -> Any:
        """Carry out a statement."""

    def executemany(self, query: Any, params: Iterable[Sequence[Any]], /) -> Any:
        """Carry out a statement for each of many."""

    def fetchone(self) -> Any:
        """The next row of what was asked for."""


class Store(ABC):
    """A database of rows, balances and offsets."""

    mark = "?"
    """How a statement says where a value goes."""

    def __init__(self, *, guard: bool) -> None:
        """`guard` tells whether an offset is compared before it is moved."""
        self._guard = guard

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Cursor]:
        """A transaction that is committed at the block's end, and rolled back on its error.

        Raises:
            Unreachable: it could not begin, or it is not known how it ended.
        """

    def reading(self) -> AbstractContextManager[Cursor]:
        """A transaction that only reads, and waits for nobody who writes.

        Raises:
            Unreachable: the database does not say.
        """
        return self.transaction()

    def stored(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """The offset to be read next of each partition; 0 where nothing was stored yet.

        Raises:
            Unreachable: the database does not say.
        """
        wanted = sorted(partitions)
        with self.reading() as cursor:
            found = {partition: self._look(cursor, topic, partition) for partition in wanted}
        if None in found.values():
            with self.transaction() as cursor:
                for partition in wanted:
                    cursor.execute(self._in_words(_FIRST), (topic, partition))
                    found[partition] = self._look(cursor, topic, partition)
        return {partition: offset or 0 for partition, offset in found.items()}

    def _look(self, cursor: Cursor, topic: str, partition: int) -> int | None:
        cursor.execute(self._in_words(_STORED), (topic, partition))
        row = cursor.fetchone()
        return None if row is None else int(row[0])

    def write(self, batch: Batch, *, offsets: bool) -> None:
        """Write a batch, in one transaction.

        Args:
            offsets: store where it ends, too.

        Raises:
            Refused: it starts from an offset that is not the stored one.
            Unreachable: it is not known whether it was written.
        """
        with self.transaction() as cursor:
            if offsets:
                for partition in sorted(batch.ends):
                    self._move(cursor, batch, partition)
            cursor.executemany(self._in_words(_ROW), batch.rows)
            cursor.executemany(self._in_words(_BALANCE), batch.totals())

    def clean(self, batch: Batch) -> None:
        """Leave one row of each payment of a batch, and take the others out of balances, too.

        Raises:
            Unreachable: it is not known whether that was done.
        """
        records = [row[0] for row in batch.rows]
        surplus = _SURPLUS.format(", ".join("?" * len(records)))
        with self.transaction() as cursor:
            cursor.execute(self._in_words(_TOO_MUCH + surplus + _EACH), records)
            too_much = list(iter(cursor.fetchone, None))
            cursor.executemany(self._in_words(_TAKEN), too_much)
            cursor.execute(self._in_words("DELETE FROM ledger" + surplus), records)

    def _move(self, cursor: Cursor, batch: Batch, partition: int) -> None:
        end, start = batch.ends[partition], batch.starts[partition]
        if not self._guard:
            cursor.execute(self._in_words(_MOVED), (end, batch.topic, partition))
            return
        cursor.execute(self._in_words(_COMPARED), (end, batch.topic, partition, start))
        if cursor.rowcount != 1:
            raise Refused(
                f"{batch.topic}-{partition} from {start} to {end}: another offset is stored"
            )

    def _in_words(self, statement: str) -> str:
        return statement.replace("?", self.mark)
