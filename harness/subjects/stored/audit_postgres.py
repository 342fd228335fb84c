"""The auditor's access to PostgreSQL, bypassing the proxies.

A commit is held by a deferred constraint trigger that waits for the auditor's advisory lock: the
consumer has sent its COMMIT and has no response, and its session shows the lock.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar, Final

import psycopg

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.sinks.books import LedgerAndBalances
from onceproof.harness.subjects.stored import journal
from onceproof.harness.subjects.stored.audit import STORED, commits
from onceproof.harness.subjects.stored.postgres import SCHEMA
from onceproof.harness.wait import Stop, wait_until

_JOURNAL: Final = """
CREATE TABLE stored_offsets (
    seq bigserial PRIMARY KEY, topic text, partition_id int, next_offset bigint);
CREATE FUNCTION note_offset() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored_offsets (topic, partition_id, next_offset)
    VALUES (NEW.topic, NEW.partition_id, NEW.next_offset);
    RETURN NULL;
END $$;
CREATE TRIGGER note_offset AFTER UPDATE ON offsets FOR EACH ROW EXECUTE FUNCTION note_offset()
"""
_OPEN: Final = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type = 'client backend'"
)
_WRITING: Final = (
    "SELECT count(*) FROM pg_locks WHERE relation = 'ledger'::regclass "
    "AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()"
)
_LOCK: Final = 790_411
"""Key of the advisory lock."""
_HOLD: Final = f"""
CREATE OR REPLACE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('application_name') = TG_ARGV[0] THEN
        PERFORM pg_advisory_xact_lock_shared({_LOCK});
    END IF;
    RETURN NULL;
END $$
"""
_RELEASE: Final = """
CREATE OR REPLACE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN NULL;
END $$
"""
_HELD: Final = """
SELECT pid, backend_xid::text FROM pg_stat_activity
WHERE application_name = %s AND query = 'COMMIT' AND wait_event = 'advisory'
"""
_SECONDS: Final = 30.0


class PostgresAudit:
    """The auditor's access to the database of one run."""

    def __init__(
        self, database: str, *, topic: str, owner: str, stop: Stop, always_open: bool = False
    ) -> None:
        """Connect to nothing yet.

        Args:
            topic, owner: of the positions.
            always_open: the pipeline has transactions open all the time, of which only those that
                have written to the ledger count.
        """
        self._database = database
        self._open = _WRITING if always_open else _OPEN
        self._topic = topic
        self._owner = owner
        self._stop = stop
        self._seen: list[Commit] = []

    def prepare(self) -> None:
        """Create tables and triggers.

        Raises:
            StageTrouble: the database has tables of another run.
        """
        with psycopg.connect(self._database) as connection:
            found = connection.execute("SELECT to_regclass('ledger')").fetchone()
            if found is not None and found[0] is not None:
                raise StageTrouble(
                    "the database already has a table `ledger`, whose rows would be counted as "
                    "this run's: use an empty database, or drop the tables of the previous run"
                )
            connection.execute(SCHEMA)
            connection.execute(_JOURNAL)
            connection.execute(journal.SCHEMA)

    def look(self) -> list[Commit]:
        with suppress(psycopg.OperationalError):  # it is unavailable now
            self._seen = commits(self._rows(STORED))
        return self._seen

    def books(self) -> LedgerAndBalances:
        return LedgerAndBalances(
            self._rows,
            topic=self._topic,
            owner=self._owner,
            hanging=lambda: bool(self._rows(self._open)[0][0]),
        )

    def journal(self) -> list[dict[str, Any]]:
        return journal.changes(self._rows(journal.NOTES), topic=self._topic, owner=self._owner)

    def hold_commit(self, who: Process) -> HeldCommit:
        return HeldCommit(self._database, who.name, self._stop)

    def hold_with_work(self, who: Process) -> HeldCommit:
        """Hold the commit of the first of its batches; once released it blocks nothing."""
        return self.hold_commit(who)

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._database) as connection:
            return connection.execute(query).fetchall()


class HeldCommit:
    """Holds the next commit of one consumer."""

    begun: ClassVar[bool] = True

    def __init__(self, database: str, who: str, stop: Stop) -> None:
        self._who = who
        self._stop = stop
        self._session: tuple[int, str] | None = None
        self._connection = psycopg.connect(database, autocommit=True)
        try:
            self._arm()
            self._do(
                "CREATE CONSTRAINT TRIGGER hold_commit AFTER INSERT ON ledger DEFERRABLE "
                f"INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_commit('{who}')"
            )
        except BaseException:
            self.close()
            raise

    def caught(self) -> str | None:
        if self._session is None:
            row = self._connection.execute(_HELD, (self._who,)).fetchone()
            if row is None:
                return None
            self._session = (int(row[0]), str(row[1]))
            self._do(_RELEASE)  # do not hold its next transactions
        return f"transaction {self._session[1]} of {self._who} was held during its COMMIT"

    def hinders(self) -> bool:
        """Return False: others wait for its rows only until it is released."""
        return False

    def awaited(self) -> str | None:
        """Return a session that waits for a row that this transaction has changed."""
        if self._session is None:
            return None
        row = self._connection.execute(
            "SELECT pid, application_name FROM pg_stat_activity "
            "WHERE %s = ANY(pg_blocking_pids(pid)) AND application_name LIKE 'member-%%'",
            (self._session[0],),
        ).fetchone()
        return f"a new session of {row[1]} waited for its rows" if row else None

    def next(self) -> None:
        self.let_go()
        self._session = None
        self._arm()

    def let_go(self) -> str:
        self._do(f"SELECT pg_advisory_unlock({_LOCK})")
        return self._wait_outcome("committed")

    def undo(self) -> str:
        """Terminate the session, which rolls its transaction back."""
        assert self._session is not None, "no transaction is held"
        self._do(f"SELECT pg_terminate_backend({self._session[0]})")
        return self._wait_outcome("aborted")

    def close(self) -> None:
        with suppress(psycopg.OperationalError):
            self._do("SELECT pg_advisory_unlock_all()")
            self._do("DROP TRIGGER IF EXISTS hold_commit ON ledger")
            self._do("DROP FUNCTION IF EXISTS hold_commit()")
        self._connection.close()

    def _arm(self) -> None:
        self._do(f"SELECT pg_advisory_lock({_LOCK})")
        self._do(_HOLD)

    def _wait_outcome(self, wanted: str) -> str:
        """Wait for the transaction's outcome, as the database reports it."""
        assert self._session is not None, "no transaction is held"
        number = self._session[1]

        def status() -> str | None:
            row = self._connection.execute(
                "SELECT pg_xact_status(%s::text::xid8)", (number,)
            ).fetchone()
            return str(row[0]) if row is not None else None

        wait_until(
            lambda: status() == wanted,
            what=f"transaction {number} to be {wanted}",
            seconds=_SECONDS,
            stop=self._stop,
            seen=status,
        )
        return f"transaction {number} was {wanted}"

    def _do(self, statement: str) -> None:
        self._connection.execute(statement)
