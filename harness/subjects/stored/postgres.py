"""PostgreSQL as the store, over a link that can break at any point of a transaction.

If the response to a commit is lost, the transaction may be rolled back, committed, or in progress.
Its row locks last until it ends: the next consumer's comparison waits for it, and then sees its
outcome (READ COMMITTED re-reads a row that it waited for).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import psycopg

from onceproof.harness.subjects.stored.store import Cursor, Store, Unreachable

SCHEMA: Final = """
CREATE TABLE ledger (
    seq bigserial PRIMARY KEY, record text, account text, amount_cents bigint, fee_cents bigint,
    source_partition int, source_offset bigint);
CREATE TABLE balances (account text PRIMARY KEY, balance bigint, payments bigint);
CREATE TABLE offsets (
    topic text, partition_id int, next_offset bigint, PRIMARY KEY (topic, partition_id))
"""
"""No unique key prevents a payment from being written twice: only the offset does."""
IDLE_MS: Final = 20_000
"""A transaction of a silent consumer is ended after this time, and its locks released. Longer than
a session of the group, so that a consumer that returns still has its transaction."""


class PostgresStore(Store):
    """A database behind a libpq connection string; connects on demand."""

    mark = "%s"

    def __init__(self, database: str, *, name: str, guard: bool) -> None:
        """Take the `name` that the database shows as application_name."""
        super().__init__(guard=guard)
        self._database = database
        self._name = name
        self._connection: psycopg.Connection | None = None

    @contextmanager
    def transaction(self) -> Iterator[Cursor]:
        """See `Store`; after a connection error the next transaction uses a new connection."""
        try:
            with self._connected().transaction(), self._connected().cursor() as cursor:
                yield cursor
        except (psycopg.OperationalError, psycopg.InternalError, psycopg.InterfaceError) as error:
            self._disconnect()
            raise Unreachable(f"{type(error).__name__}: {str(error).strip()}") from error

    def _connected(self) -> psycopg.Connection:
        if self._connection is None:
            self._connection = psycopg.connect(
                self._database,
                application_name=self._name,
                options=f"-c idle_in_transaction_session_timeout={IDLE_MS}",
                autocommit=True,  # a transaction lasts exactly as long as its block
            )
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
        self._connection = None
