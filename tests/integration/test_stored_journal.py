"""What readers of PostgreSQL's tables saw while they changed: only that, and in that order."""

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
    """Its tables, with the journal of who looks on."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.audit = PostgresAudit(where, topic="payments", owner="billing", stop=Stop())
        self.audit.prepare()

    def store(self, name: str = "member-0") -> PostgresStore:
        return PostgresStore(self.where, name=name, guard=True)

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.where)

    def seen(self, sink: str) -> list[str]:
        """Operation and payment of each change, with a mark where it shows what is not right."""
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
    with psycopg.connect(where) as connection:  # the database is everybody's
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


def test_what_is_written_once_is_seen_once(database: Database) -> None:
    mine = database.store()
    mine.stored("payments", [0])
    mine.write(batch("r0", "r1"), offsets=True)
    mine.write(batch("r2", first=2), offsets=True)
    assert database.seen("ledger") == ["append r0", "append r1", "append r2"]
    assert database.seen("balances") == database.seen("ledger")
    first = database.audit.journal()[0]
    assert (first["source_topic"], first["source_partition"], first["source_offset"]) == (
        "payments", 0, 0,
    )  # fmt: skip
    assert len({change["transaction"] for change in database.audit.journal()}) == 2


def test_what_was_taken_away_again_was_seen(database: Database) -> None:
    mine = database.store()
    for _ in range(2):
        mine.write(batch("r0", "r1"), offsets=False)
        mine.clean(batch("r0", "r1"))
    books = database.audit.books()
    assert [effect.record for effect in books.effects()] == ["r0", "r1"]
    assert [state.amount for state in books.states()] == [200, 2]
    assert database.seen("ledger") == [
        "append r0", "append r1", "append r0", "append r1", "delete r0", "delete r1",
    ]  # fmt: skip
    assert database.seen("balances") == [
        "append r0", "append r1", "append r0", "append r1",
    ]  # fmt: skip


def test_what_no_reader_saw_is_not_noted(database: Database) -> None:
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


def test_a_balance_that_was_wrong_for_a_while_was_seen(database: Database) -> None:
    database.store().write(batch("r0"), offsets=False)
    for wrong in (300, 100):
        with database.connect() as connection:
            connection.execute("UPDATE balances SET balance = %s", (wrong,))
    assert [state.amount for state in database.audit.books().states()] == [100, 1]
    assert database.seen("ledger") == ["append r0"]
    assert database.seen("balances") == ["append r0", "append r0 wrong", "append r0 wrong"]


def test_a_row_whose_balance_came_later_was_seen_without_it(database: Database) -> None:
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO ledger (record, account, amount_cents, fee_cents) "
            "VALUES ('r0', 'a', 100, 32)"
        )
    with database.connect() as connection:
        connection.execute("INSERT INTO balances VALUES ('a', 100, 1)")
    assert database.seen("ledger") == ["append r0"]
    assert database.seen("balances") == ["append r0 wrong", "append r0 wrong"]


def test_the_order_is_that_of_commits_and_not_of_writing(database: Database) -> None:
    early, late = database.connect(), database.connect()
    with early, late:
        for connection, record in ((early, "wrote first"), (late, "committed first")):
            connection.execute("INSERT INTO ledger (record) VALUES (%s)", (record,))
        late.commit()
        early.commit()
    records = [c["record"] for c in database.audit.journal() if c["sink"] == "ledger-journal"]
    assert records == ["committed first", "wrote first"]


def test_nobody_is_seen_between_a_note_and_the_commit_that_it_is_of(database: Database) -> None:
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'notes'::regclass"

    def commit() -> None:
        with database.connect() as connection:
            connection.execute("INSERT INTO ledger (record) VALUES ('second')")

    second = threading.Thread(target=commit)
    with database.connect() as first, database.connect() as looking:
        first.execute("INSERT INTO ledger (record) VALUES ('first')")
        first.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as at its end
        second.start()
        eventually(lambda: looking.execute(waiting).fetchone() == (1,), "the second to wait")
        first.commit()
    second.join()
    records = [c["record"] for c in database.audit.journal() if c["sink"] == "ledger-journal"]
    assert records == ["first", "second"]


def test_a_commit_that_stands_still_keeps_nobody_from_committing(database: Database) -> None:
    mine, other = database.store("member-0"), database.store("member-1")
    hold = database.audit.hold_commit(SimpleNamespace(name="member-0"))  # type: ignore[arg-type]
    writing = threading.Thread(target=mine.write, args=(batch("r0"),), kwargs={"offsets": False})
    writing.start()
    try:
        eventually(lambda: hold.caught() is not None, "its commit to stand still")
        other.write(batch("r1", account="b"), offsets=False)
        assert database.seen("ledger") == ["append r1 wrong"], "it is of another account"
        assert hold.let_go().endswith("was committed")
    finally:
        hold.close()
        writing.join()
    assert Counter(database.seen("ledger")) == Counter(["append r1 wrong", "append r0"])
