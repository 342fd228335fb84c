"""Database triggers that hold or refuse a pipeline's writes."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from onceproof.harness.faults.database.triggers import Triggers, When
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.user_pipeline.statements import APPLICATION, user_tables
from tests.integration.staging import SECONDS, Staged, eventually

pytestmark = pytest.mark.integration
Client = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def table(staging: Staged) -> Iterator[str]:
    """An empty table `(n int)`."""
    name = f"written_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(staging.stage.database(AUDITOR), autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {name} (n int)")
        yield name
        connection.execute(f"DROP TABLE IF EXISTS {name}")


@pytest.fixture
def client(staging: Staged) -> Iterator[Client]:
    """A database client like a pipeline's, with a statement timeout."""
    where, limit = staging.stage.database("pipeline"), f"-c statement_timeout={SECONDS:g}s"
    with contextlib.closing(psycopg.connect(where, options=limit)) as connection:
        yield connection


@contextlib.contextmanager
def triggers(staging: Staged, table: str, when: When, refuse: str = "") -> Iterator[Triggers]:
    made = Triggers(staging.stage.database(AUDITOR), when=when, tables=[table], refuse=refuse)
    try:
        yield made
    finally:
        made.remove()


def rows(staging: Staged, table: str) -> list[int]:
    with psycopg.connect(staging.stage.database(AUDITOR)) as directly:
        return [n for (n,) in directly.execute(f"SELECT n FROM {table} ORDER BY n").fetchall()]


def wait_for_held(triggers: Triggers) -> tuple[int, str | None]:
    """Wait for the one held server process; return its pid and transaction."""
    ((pid, transaction),) = eventually(triggers.waiting, "something to be held").items()
    return pid, transaction


@contextlib.contextmanager
def in_background(act: Callable[[], object]) -> Iterator[list[BaseException | None]]:
    """Run `act` on a thread; its error or None is in the list after the block."""
    outcomes: list[BaseException | None] = []

    def run() -> None:
        try:
            act()
            outcomes.append(None)
        except psycopg.Error as error:
            outcomes.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield outcomes
    finally:
        thread.join(SECONDS)
    assert not thread.is_alive()


def insertion(client: Client, table: str, n: int = 1) -> Callable[[], None]:
    """A function that inserts one row in a transaction."""

    def act() -> None:
        client.execute(f"INSERT INTO {table} VALUES (%s)", [n])
        client.commit()

    return act


def test_holds_statement_before_any_change(staging: Staged, table: str, client: Client) -> None:
    with triggers(staging, table, "statement") as made:
        assert (made.met, made.waiting()) == (0, {})
        with in_background(insertion(client, table)) as outcomes:
            _, transaction = wait_for_held(made)
            assert transaction is not None
            assert (made.met, rows(staging, table), outcomes) == (1, [], [])
            assert made.outcome(transaction) == "in progress"
            made.release()
        assert (outcomes, rows(staging, table)) == ([None], [1])


def test_holds_commit_after_its_statements(staging: Staged, table: str, client: Client) -> None:
    with triggers(staging, table, "commit") as made:
        client.execute(f"INSERT INTO {table} VALUES (1)")
        assert made.waiting() == {}, "it has not come to its commit"
        with in_background(client.commit) as outcomes:
            _, transaction = wait_for_held(made)
            assert transaction is not None
            assert (rows(staging, table), made.outcome(transaction)) == ([], "in progress")
            made.release()
        assert (outcomes, made.outcome(transaction), rows(staging, table)) == (
            [None], "committed", [1]
        )  # fmt: skip


def test_terminated_commit_is_aborted(staging: Staged, table: str, client: Client) -> None:
    with triggers(staging, table, "commit") as made:
        with in_background(insertion(client, table)) as outcomes:
            pid, transaction = wait_for_held(made)
            assert transaction is not None
            made.terminate([pid])
        (error,) = outcomes
        assert isinstance(error, psycopg.OperationalError)
        assert (made.outcome(transaction), rows(staging, table)) == ("aborted", [])


@pytest.mark.parametrize("when", ["statement", "commit"])
@pytest.mark.parametrize("code", ["40001", "40P01"])
def test_refusal_carries_sqlstate(
    staging: Staged, table: str, client: Client, when: When, code: str
) -> None:
    with triggers(staging, table, when, code) as made:
        with pytest.raises(
            psycopg.OperationalError, match="refused by a onceproof fault"
        ) as refused:
            insertion(client, table)()
        assert refused.value.sqlstate == code
        assert made.met == 1
        client.rollback()
    insertion(client, table, 2)()
    assert rows(staging, table) == [2]


def test_refuses_updates_and_deletes(staging: Staged, table: str, client: Client) -> None:
    insertion(client, table)()
    with triggers(staging, table, "statement", "40001") as made:
        for statement in (f"UPDATE {table} SET n = 2", f"DELETE FROM {table}"):
            with pytest.raises(psycopg.OperationalError):
                client.execute(statement)
            client.rollback()
        client.execute(f"SELECT n FROM {table}")
        client.commit()
        assert made.met == 2
    assert rows(staging, table) == [1]


def test_other_tables_are_unaffected(staging: Staged, table: str, client: Client) -> None:
    client.execute(f"CREATE TABLE {table}_other (n int)")
    client.commit()
    try:
        with triggers(staging, table, "statement", "40001") as made:
            assert made.tables == [table]
            insertion(client, f"{table}_other")()
    finally:
        client.execute(f"DROP TABLE {table}_other")
        client.commit()


def test_covers_all_user_tables_by_default(staging: Staged, table: str, client: Client) -> None:
    made = Triggers(staging.stage.database(AUDITOR), when="statement", refuse="40001")
    try:
        assert table in made.tables
        with pytest.raises(psycopg.OperationalError):
            insertion(client, table)()
    finally:
        made.remove()


def test_installs_trigger_on_busy_table(staging: Staged, table: str, client: Client) -> None:
    over = threading.Event()

    def busy() -> None:
        while not over.is_set():
            with contextlib.suppress(psycopg.errors.SerializationFailure):
                insertion(client, table)()
                continue
            client.rollback()

    with in_background(busy):
        try:
            with triggers(staging, table, "statement", "40001") as made:
                assert made.tables == [table]
                eventually(lambda: made.met, "the first to be refused")
        finally:
            over.set()


def test_remove_leaves_no_triggers_or_locks(staging: Staged, table: str, client: Client) -> None:
    with triggers(staging, table, "commit") as made, in_background(insertion(client, table)):
        wait_for_held(made)
        made.remove()
    with psycopg.connect(staging.stage.database(AUDITOR)) as directly:
        found = directly.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal").fetchall()
        locks = directly.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'").fetchall()
        assert (found, locks) == ([], [])
    insertion(client, table, 2)()
    assert rows(staging, table) == [1, 2]


def test_remove_ignores_dropped_table(staging: Staged, table: str, client: Client) -> None:
    with triggers(staging, table, "statement"):
        client.execute(f"DROP TABLE {table}")
        client.commit()


def test_triggers_are_invisible_to_the_pipeline(
    staging: Staged, table: str, client: Client
) -> None:
    with triggers(staging, table, "statement", "40001"):
        (path,) = client.execute("SELECT current_schemas(false)").fetchall()
        assert path == (["public"],), "no schema of ours is where the pipeline looks"
        client.execute(f"CREATE TABLE IF NOT EXISTS {table} (n int)")
        client.commit()
        assert [name for name in user_tables(client) if name.endswith(table)] == [table]
        assert not any("onceproof" in name for name in user_tables(client))


@pytest.mark.parametrize("when", ["statement", "commit"])
def test_writes_of_the_feed_pass(staging: Staged, table: str, when: When) -> None:
    with triggers(staging, table, when, refuse="40001") as made:
        where = staging.stage.database(AUDITOR)
        with psycopg.connect(where, application_name=APPLICATION) as feed:
            feed.execute(f"INSERT INTO {table} VALUES (1)")
        assert rows(staging, table) == [1]
        assert made.met == 0
