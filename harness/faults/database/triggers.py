"""Triggers on the tables of a pipeline's database that hold or refuse its writes.

They run inside the server, so they work with any client and protocol mode. A statement trigger
fires before the statement changes anything; a commit trigger is a deferred constraint trigger,
which fires just before the commit. Held transactions wait for an advisory lock of the harness.
Calls are counted by a sequence, because it is not rolled back.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Literal

import psycopg
from psycopg import sql

from onceproof.harness.user_pipeline.statements import APPLICATION, Connection, user_tables

When = Literal["statement", "commit"]
_LOCK: Final = 730_416_029
_MANY: Final = 2**62
_NAME: Final = "onceproof_strike"
_LOCK_WAIT: Final = "500ms"
_INSTALL_SECONDS: Final = 20.0
# Not named like the pipeline's user: a schema of that name comes first in its search path.
_PREPARE: Final = """
CREATE SCHEMA IF NOT EXISTS onceproof_faults;
GRANT USAGE ON SCHEMA onceproof_faults TO PUBLIC;
CREATE SEQUENCE IF NOT EXISTS onceproof_faults.met;
CREATE OR REPLACE FUNCTION onceproof_faults.meet() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    IF current_setting('application_name') = '{feed}' THEN RETURN NULL; END IF;
    IF nextval('onceproof_faults.met') > TG_ARGV[1]::bigint THEN RETURN NULL; END IF;
    IF TG_ARGV[0] <> '' THEN
        RAISE EXCEPTION 'refused by a onceproof fault' USING ERRCODE = TG_ARGV[0];
    END IF;
    PERFORM pg_current_xact_id();  -- so that its outcome can be queried
    PERFORM pg_advisory_xact_lock_shared({lock});
    IF TG_LEVEL = 'ROW' THEN RETURN NEW; END IF;
    RETURN NULL;
END $$
"""
_INSTALL: Final[dict[When, str]] = {
    "statement": (
        "CREATE TRIGGER {name} BEFORE INSERT OR UPDATE OR DELETE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION onceproof_faults.meet({code}, {last})"
    ),
    "commit": (
        "CREATE CONSTRAINT TRIGGER {name} AFTER INSERT OR UPDATE OR DELETE ON {table} "
        "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
        "EXECUTE FUNCTION onceproof_faults.meet({code}, {last})"
    ),
}
_WAITING: Final = """
    SELECT a.pid, a.backend_xid::text FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND NOT l.granted AND l.objid = {lock}"""


class Triggers:
    """Triggers on some tables, from construction until `remove`."""

    def __init__(
        self,
        database: str,
        *,
        when: When,
        tables: Sequence[str] = (),
        refuse: str = "",
        one: bool = False,
    ) -> None:
        """Install the triggers.

        Args:
            database: connection string of a superuser, bypassing the proxies.
            tables: empty means all user tables.
            refuse: SQLSTATE to raise; empty: hold instead.
            one: act only on the first call, and ignore all others.

        Raises:
            psycopg.Error: the database refuses.
        """
        self._connection: Connection = psycopg.connect(database, autocommit=True)
        self.tables: list[str] = []
        try:
            self._run(_PREPARE)
            before = self._count()
            if not refuse:
                self._run("SELECT pg_advisory_lock({lock})")
            self._before = before
            self._install(
                when, tables or user_tables(self._connection), refuse, before + 1 if one else _MANY
            )
        except BaseException:
            self.remove()
            raise

    @property
    def met(self) -> int:
        """Number of calls; each row of a commit counts."""
        return self._count() - self._before

    def waiting(self) -> dict[int, str | None]:
        """Return the server processes that wait in a trigger → their transaction id, if any."""
        rows = self._connection.execute(_filled(_WAITING)).fetchall()
        return {int(pid): None if xid is None else str(xid) for pid, xid in rows}

    def held_for(self, process: int) -> float:
        """Return the seconds since a server process received its current statement."""
        query = (
            "SELECT extract(epoch FROM clock_timestamp() - query_start)::float8 "
            "FROM pg_stat_activity WHERE pid = %s"
        )
        row = self._connection.execute(query, [process]).fetchone()
        return float(row[0]) if row else 0.0

    def behind(self, process: int) -> int:
        """Return how many server processes wait for a lock of this one."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
        row = self._connection.execute(query, [process]).fetchone()
        return int(row[0]) if row else 0

    def terminate(self, processes: Sequence[int]) -> None:
        """End server processes, which rolls back their transactions."""
        for pid in processes:
            self._connection.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    def release(self) -> None:
        self._run("SELECT pg_advisory_unlock_all()")

    def outcome(self, transaction: str) -> str:
        """Return the state of a transaction: `committed`, `aborted`, `in progress` or `unknown`."""
        row = self._connection.execute("SELECT pg_xact_status(%s::xid8)", [transaction]).fetchone()
        return str(row[0]) if row and row[0] is not None else "unknown"

    def remove(self) -> None:
        """Release held transactions and drop the triggers."""
        with suppress(psycopg.OperationalError):  # the server and its locks are gone
            self.release()
        while self.tables:
            drop = sql.SQL("DROP TRIGGER IF EXISTS {} ON {}")
            with suppress(psycopg.errors.UndefinedTable):  # the pipeline dropped it
                self._locked(drop.format(sql.Identifier(_NAME), sql.SQL(self.tables[-1])))
            self.tables.pop()
        self._connection.close()

    def _install(self, when: When, tables: Sequence[str], refuse: str, last: int) -> None:
        for table in tables:
            statement = sql.SQL(_INSTALL[when]).format(
                name=sql.Identifier(_NAME), table=sql.SQL(table), code=sql.Literal(refuse),
                last=sql.Literal(str(last)),
            )  # fmt: skip
            with suppress(psycopg.errors.LockNotAvailable, psycopg.errors.UndefinedTable):
                self._locked(statement)
                self.tables.append(table)

    def _locked(self, statement: sql.Composed) -> None:
        """Run a statement that locks a table. Other writers proceed between two attempts.

        Raises:
            psycopg.errors.LockNotAvailable: the table stayed locked the whole time.
        """
        self._run(f"SET lock_timeout = '{_LOCK_WAIT}'")
        deadline = time.monotonic() + _INSTALL_SECONDS
        while True:
            try:
                self._connection.execute(statement)
                return
            except psycopg.errors.LockNotAvailable:
                # A trigger that is already installed holds a transaction, which is its purpose.
                if time.monotonic() > deadline or self.waiting():
                    raise

    def _run(self, statement: str) -> None:
        self._connection.execute(_filled(statement))

    def _count(self) -> int:
        row = self._connection.execute(
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM onceproof_faults.met"
        ).fetchone()
        return int(row[0]) if row else 0


def _filled(statement: str) -> sql.SQL:
    return sql.SQL(statement.replace("{lock}", str(_LOCK)).replace("{feed}", APPLICATION))
