"""The journal of PostgreSQL tables: all states visible to readers, in commit order."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from onceproof.harness.history.identity import digest
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.subjects.stored.audit_postgres import PostgresAudit
from onceproof.harness.subjects.stored.batch import Batch
from onceproof.harness.subjects.stored.postgres import PostgresStore
from onceproof.harness.wait import Stop
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


class Database:
    """The tables with their journal."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.audit = PostgresAudit(where, topic="payments", owner="billing", stop=Stop())
        self.audit.prepare()

    def store(self, name: str = "member-0") -> PostgresStore:
        return PostgresStore(self.where, name=name, guard=True)

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.where)

    def seen(self, sink: str) -> list[str]:
        """Operation and payment of each change, marked `wrong` if its digest is."""
        return [
            f"{change['operation']} {change['record']}"
            + ("" if change["digest"] == content(change["record"]) else " wrong")
            for change in self.audit.journal()
            if change["sink"] == f"{sink}-journal"
        ]


@pytest.fixture
def database(staging: Staged) -> Iterator[Database]:
    where = staging.stage.database(AUDITOR)
    yield Database(where)
    with psycopg.connect(where) as connection:  # all tests share the database
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


def batch(*records: str, account: str = "a", first: int = 0) -> Batch:
    return Batch(
        topic="payments",
        rows=tuple((record, account, 100, 32, 0, first + n) for n, record in enumerate(records)),
        starts={0: first},
        ends={0: first + len(records)},
    )


def content(record: str, account: str = "a") -> str:
    return digest(record, account, 100, 32)


def test_journal_has_each_write_once(database: Database) -> None:
    store = database.store()
    store.stored("payments", [0])
    store.write(batch("r0", "r1"), offsets=True)
    store.write(batch("r2", first=2), offsets=True)
    assert database.seen("ledger") == ["append r0", "append r1", "append r2"]
    assert database.seen("balances") == database.seen("ledger")
    first = database.audit.journal()[0]
    assert (first["source_topic"], first["source_partition"], first["source_offset"]) == (
        "payments", 0, 0,
    )  # fmt: skip
    assert len({change["transaction"] for change in database.audit.journal()}) == 2


def test_journal_keeps_duplicates_that_were_deleted(database: Database) -> None:
    store = database.store()
    for _ in range(2):
        store.write(batch("r0", "r1"), offsets=False)
        store.clean(batch("r0", "r1"))
    books = database.audit.books()
    assert [effect.record for effect in books.effects()] == ["r0", "r1"]
    assert [state.amount for state in books.states()] == [200, 2]
    assert database.seen("ledger") == [
        "append r0", "append r1", "append r0", "append r1", "delete r0", "delete r1",
    ]  # fmt: skip
    assert database.seen("balances") == [
        "append r0", "append r1", "append r0", "append r1",
    ]  # fmt: skip


def test_journal_ignores_changes_that_were_never_visible(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("INSERT INTO ledger (record) VALUES ('never')")
        connection.rollback()
        connection.execute("INSERT INTO ledger (record) VALUES ('never')")
        connection.execute("DELETE FROM ledger")
        connection.execute(
            "INSERT INTO ledger (record, account, amount_cents, fee_cents) "
            "VALUES ('draft', 'a', 100, 32)"
        )
        connection.execute("UPDATE ledger SET record = 'r0'")
    assert database.seen("ledger") == ["upsert r0"]


def test_journal_keeps_temporarily_wrong_balance(database: Database) -> None:
    database.store().write(batch("r0"), offsets=False)
    for wrong in (300, 100):
        with database.connect() as connection:
            connection.execute("UPDATE balances SET balance = %s", (wrong,))
    assert [state.amount for state in database.audit.books().states()] == [100, 1]
    assert database.seen("ledger") == ["append r0"]
    assert database.seen("balances") == ["append r0", "append r0 wrong", "append r0 wrong"]


def test_journal_shows_row_committed_before_its_balance(database: Database) -> None:
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO ledger (record, account, amount_cents, fee_cents) "
            "VALUES ('r0', 'a', 100, 32)"
        )
    with database.connect() as connection:
        connection.execute("INSERT INTO balances VALUES ('a', 100, 1)")
    assert database.seen("ledger") == ["append r0"]
    assert database.seen("balances") == ["append r0 wrong", "append r0 wrong"]


def test_journal_is_in_commit_order(database: Database) -> None:
    early, late = database.connect(), database.connect()
    with early, late:
        for connection, record in ((early, "wrote first"), (late, "committed first")):
            connection.execute("INSERT INTO ledger (record) VALUES (%s)", (record,))
        late.commit()
        early.commit()
    records = [c["record"] for c in database.audit.journal() if c["sink"] == "ledger-journal"]
    assert records == ["committed first", "wrote first"]


def test_journal_entries_are_serialized_until_commit(database: Database) -> None:
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'notes'::regclass"

    def commit() -> None:
        with database.connect() as connection:
            connection.execute("INSERT INTO ledger (record) VALUES ('second')")

    second = threading.Thread(target=commit)
    with database.connect() as first, database.connect() as observer:
        first.execute("INSERT INTO ledger (record) VALUES ('first')")
        first.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as at commit
        second.start()
        eventually(lambda: observer.execute(waiting).fetchone() == (1,), "the second to wait")
        first.commit()
    second.join()
    records = [c["record"] for c in database.audit.journal() if c["sink"] == "ledger-journal"]
    assert records == ["first", "second"]


def test_held_commit_does_not_block_other_commits(database: Database) -> None:
    store, other = database.store("member-0"), database.store("member-1")
    hold = database.audit.hold_commit(SimpleNamespace(name="member-0"))  # type: ignore[arg-type]
    writer = threading.Thread(target=store.write, args=(batch("r0"),), kwargs={"offsets": False})
    writer.start()
    try:
        eventually(lambda: hold.caught() is not None, "its commit to stand still")
        other.write(batch("r1", account="b"), offsets=False)
        assert database.seen("ledger") == ["append r1 wrong"], "it is of another account"
        assert hold.let_go().endswith("was committed")
    finally:
        hold.close()
        writer.join()
    assert Counter(database.seen("ledger")) == Counter(["append r1 wrong", "append r0"])
