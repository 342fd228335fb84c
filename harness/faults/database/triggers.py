"""Triggers of ours on the tables of a pipeline's database: they hold or refuse what it writes.

They act inside the server, so they work whatever client and form of protocol the pipeline uses. A
trigger on a statement fires before the statement changes anything; one on a commit is a deferred
constraint, which fires when the transaction has done all its work and is about to commit. A held
transaction waits for an advisory lock that we have. A sequence counts what was met, since it is not
undone with a transaction.
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
# Not called as the pipeline's user is: a schema of that name is the first in its search path.
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
        RAISE EXCEPTION 'refused by a fault of onceproof' USING ERRCODE = TG_ARGV[0];
    END IF;
    PERFORM pg_current_xact_id();  -- so that one can ask what became of it
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
    """Triggers on some tables, while the block lasts."""

    def __init__(
        self,
        database: str,
        *,
        when: When,
        tables: Sequence[str] = (),
        refuse: str = "",
        one: bool = False,
    ) -> None:
        """Install them.

        Args:
            database: how to connect as its superuser, past all proxies.
            when: what they act on.
            tables: which; none means all tables that users have made.
            refuse: SQLSTATE that they raise; empty: they hold.
            one: act only on who comes first, and let all others pass.

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
        """How often they have fired; each row of a commit counts."""
        return self._count() - self._before

    def waiting(self) -> dict[int, str | None]:
        """Server processes that wait in a trigger → the id of their transaction, if it has one."""
        rows = self._connection.execute(_filled(_WAITING)).fetchall()
        return {int(pid): None if xid is None else str(xid) for pid, xid in rows}

    def held_for(self, process: int) -> float:
        """Seconds since a server process got the statement that it works on."""
        query = (
            "SELECT extract(epoch FROM clock_timestamp() - query_start)::float8 "
            "FROM pg_stat_activity WHERE pid = %s"
        )
        row = self._connection.execute(query, [process]).fetchone()
        return float(row[0]) if row else 0.0

    def behind(self, process: int) -> int:
        """How many server processes wait for a lock that one of them has."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
        row = self._connection.execute(query, [process]).fetchone()
        return int(row[0]) if row else 0

    def terminate(self, processes: Sequence[int]) -> None:
        """End server processes: what they had not committed is undone."""
        for pid in processes:
            self._connection.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    def release(self) -> None:
        self._run("SELECT pg_advisory_unlock_all()")

    def outcome(self, transaction: str) -> str:
        """What became of a transaction: `committed`, `aborted` or `in progress`."""
        row = self._connection.execute("SELECT pg_xact_status(%s::xid8)", [transaction]).fetchone()
        return str(row[0]) if row else "unknown"

    def remove(self) -> None:
        """Release what is held and take the triggers away."""
        with suppress(psycopg.OperationalError):  # the server is gone, and its locks with it
            self.release()
        while self.tables:
            drop = sql.SQL("DROP TRIGGER IF EXISTS {} ON {}")
            with suppress(psycopg.errors.UndefinedTable):  # the pipeline has dropped it
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
        """Run what needs a table's lock: whoever writes to it goes on between two tries.

        Raises:
            psycopg.errors.LockNotAvailable: somebody has kept the table locked all the time.
        """
        self._run(f"SET lock_timeout = '{_LOCK_WAIT}'")
        deadline = time.monotonic() + _INSTALL_SECONDS
        while True:
            try:
                self._connection.execute(statement)
                return
            except psycopg.errors.LockNotAvailable:
                # Somebody waits in a trigger that is installed already: that is what it is for.
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
