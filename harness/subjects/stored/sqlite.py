"""SQLite as the store: a file that consumers on one machine share.

A write transaction starts with `BEGIN IMMEDIATE`, so it has the write lock before it reads an
offset, and the comparison stays valid. A transaction that starts with a read could fail with
SQLITE_BUSY at its first write.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final

from onceproof.harness.subjects.stored.store import Cursor, Store, Unreachable

SCHEMA: Final = """
CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT, account TEXT, amount_cents INTEGER,
    fee_cents INTEGER, source_partition INTEGER, source_offset INTEGER);
CREATE TABLE balances (account TEXT PRIMARY KEY, balance INTEGER, payments INTEGER);
CREATE TABLE offsets (
    topic TEXT, partition_id INTEGER, next_offset INTEGER, PRIMARY KEY (topic, partition_id))
"""
"""No unique key prevents a payment from being written twice: only the offset does."""


class SqliteStore(Store):
    """A database in a file."""

    def __init__(self, path: Path, *, guard: bool, patience: float = 15.0) -> None:
        """Open the file; `patience` is how many seconds to wait for another's lock."""
        super().__init__(guard=guard)
        # Disable implicit transactions.
        self._connection = sqlite3.connect(path, timeout=patience, isolation_level=None)

    def transaction(self) -> AbstractContextManager[Cursor]:
        """See `Store`; a lock that is not released in time counts as no answer."""
        return self._between("BEGIN IMMEDIATE")

    def reading(self) -> AbstractContextManager[Cursor]:
        """See `Store`; it waits only for a commit in progress."""
        return self._between("BEGIN")

    @contextmanager
    def _between(self, begin: str) -> Iterator[Cursor]:
        cursor = self._connection.cursor()
        try:
            cursor.execute(begin)
            yield cursor
            cursor.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise Unreachable(str(error)) from error
        finally:
            if self._connection.in_transaction:
                with suppress(sqlite3.OperationalError):
                    cursor.execute("ROLLBACK")
