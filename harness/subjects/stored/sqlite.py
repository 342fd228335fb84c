"""SQLite as the store: a file that consumers of one machine share.

A transaction that writes begins as one (`BEGIN IMMEDIATE`), so it has the
only lock for writing before it looks at an offset, and what it has compared stays true. One that
begins by reading could be told to start again when it writes.
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
"""No key keeps a payment from being written twice: only the offset does."""


class SqliteStore(Store):
    """A database in a file."""

    def __init__(self, path: Path, *, guard: bool, patience: float = 15.0) -> None:
        """Open it; others may too, and each waits for another's lock for so many seconds."""
        super().__init__(guard=guard)
        # No transaction is begun for us.
        self._connection = sqlite3.connect(path, timeout=patience, isolation_level=None)

    def transaction(self) -> AbstractContextManager[Cursor]:
        """See `Store`; somebody else's lock that does not go is as good as no answer."""
        return self._between("BEGIN IMMEDIATE")

    def reading(self) -> AbstractContextManager[Cursor]:
        """See `Store`; only who is about to end a commit is waited for."""
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
