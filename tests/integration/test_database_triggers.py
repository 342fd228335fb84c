"""What a pipeline writes to the stage's database, held or refused inside the server."""

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
    """A client of the database, as a pipeline is; what is held for good ends in an error."""
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


def held(triggers: Triggers) -> tuple[int, str | None]:
    """The one server process that waits, and its transaction."""
    ((pid, transaction),) = eventually(triggers.waiting, "something to be held").items()
    return pid, transaction


@contextlib.contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[list[BaseException | None]]:
    """It acts on a thread; what it came to is in the list when the block is over."""
    came: list[BaseException | None] = []

    def run() -> None:
        try:
            act()
            came.append(None)
        except psycopg.Error as error:
            came.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield came
    finally:
        thread.join(SECONDS)
    assert not thread.is_alive()


def writes(client: Client, table: str, n: int = 1) -> Callable[[], None]:
    """A transaction of one row."""

    def act() -> None:
        client.execute(f"INSERT INTO {table} VALUES (%s)", [n])
        client.commit()

    return act


def test_a_statement_is_held_before_it_changes_anything(
    staging: Staged, table: str, client: Client
) -> None:
    with triggers(staging, table, "statement") as made:
        assert (made.met, made.waiting()) == (0, {})
        with meanwhile(writes(client, table)) as came:
            _, transaction = held(made)
            assert transaction is not None
            assert (made.met, rows(staging, table), came) == (1, [], [])
            assert made.outcome(transaction) == "in progress"
            made.release()
        assert (came, rows(staging, table)) == ([None], [1])


def test_a_commit_is_held_when_all_its_work_is_done(
    staging: Staged, table: str, client: Client
) -> None:
    with triggers(staging, table, "commit") as made:
        client.execute(f"INSERT INTO {table} VALUES (1)")
        assert made.waiting() == {}, "it has not come to its commit"
        with meanwhile(client.commit) as came:
            _, transaction = held(made)
            assert transaction is not None
            assert (rows(staging, table), made.outcome(transaction)) == ([], "in progress")
            made.release()
        assert (came, made.outcome(transaction), rows(staging, table)) == (
            [None], "committed", [1]
        )  # fmt: skip


def test_a_held_commit_can_be_undone(staging: Staged, table: str, client: Client) -> None:
    with triggers(staging, table, "commit") as made:
        with meanwhile(writes(client, table)) as came:
            pid, transaction = held(made)
            assert transaction is not None
            made.terminate([pid])
        (error,) = came
        assert isinstance(error, psycopg.OperationalError)
        assert (made.outcome(transaction), rows(staging, table)) == ("aborted", [])


@pytest.mark.parametrize("when", ["statement", "commit"])
@pytest.mark.parametrize("code", ["40001", "40P01"])
def test_a_refusal_has_its_code(
    staging: Staged, table: str, client: Client, when: When, code: str
) -> None:
    with triggers(staging, table, when, code) as made:
        with pytest.raises(
            psycopg.OperationalError, match="refused by a onceproof fault"
        ) as refused:
            writes(client, table)()
        assert refused.value.sqlstate == code
        assert made.met == 1
        client.rollback()
    writes(client, table, 2)()
    assert rows(staging, table) == [2]


def test_updates_and_deletes_are_writes_too(staging: Staged, table: str, client: Client) -> None:
    writes(client, table)()
    with triggers(staging, table, "statement", "40001") as made:
        for statement in (f"UPDATE {table} SET n = 2", f"DELETE FROM {table}"):
            with pytest.raises(psycopg.OperationalError):
                client.execute(statement)
            client.rollback()
        client.execute(f"SELECT n FROM {table}")
        client.commit()
        assert made.met == 2
    assert rows(staging, table) == [1]


def test_other_tables_go_on(staging: Staged, table: str, client: Client) -> None:
    client.execute(f"CREATE TABLE {table}_other (n int)")
    client.commit()
    try:
        with triggers(staging, table, "statement", "40001") as made:
            assert made.tables == [table]
            writes(client, f"{table}_other")()
    finally:
        client.execute(f"DROP TABLE {table}_other")
        client.commit()


def test_without_names_all_tables_of_users_are_met(
    staging: Staged, table: str, client: Client
) -> None:
    made = Triggers(staging.stage.database(AUDITOR), when="statement", refuse="40001")
    try:
        assert table in made.tables
        with pytest.raises(psycopg.OperationalError):
            writes(client, table)()
    finally:
        made.remove()


def test_a_table_in_use_gets_its_trigger_between_two_transactions(
    staging: Staged, table: str, client: Client
) -> None:
    over = threading.Event()

    def busy() -> None:
        while not over.is_set():
            with contextlib.suppress(psycopg.errors.SerializationFailure):
                writes(client, table)()
                continue
            client.rollback()

    with meanwhile(busy):
        try:
            with triggers(staging, table, "statement", "40001") as made:
                assert made.tables == [table]
                eventually(lambda: made.met, "the first to be refused")
        finally:
            over.set()


def test_nothing_of_it_is_left(staging: Staged, table: str, client: Client) -> None:
    with triggers(staging, table, "commit") as made, meanwhile(writes(client, table)):
        held(made)
        made.remove()
    with psycopg.connect(staging.stage.database(AUDITOR)) as directly:
        found = directly.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal").fetchall()
        locks = directly.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'").fetchall()
        assert (found, locks) == ([], [])
    writes(client, table, 2)()
    assert rows(staging, table) == [1, 2]


def test_a_table_that_is_gone_needs_no_undoing(staging: Staged, table: str, client: Client) -> None:
    with triggers(staging, table, "statement"):
        client.execute(f"DROP TABLE {table}")
        client.commit()


def test_what_it_makes_stands_in_nobodys_way(staging: Staged, table: str, client: Client) -> None:
    with triggers(staging, table, "statement", "40001"):
        (path,) = client.execute("SELECT current_schemas(false)").fetchall()
        assert path == (["public"],), "no schema of ours is where the pipeline looks"
        client.execute(f"CREATE TABLE IF NOT EXISTS {table} (n int)")
        client.commit()
        assert [name for name in user_tables(client) if name.endswith(table)] == [table]
        assert not any("onceproof" in name for name in user_tables(client))


@pytest.mark.parametrize("when", ["statement", "commit"])
def test_what_the_feed_writes_passes(staging: Staged, table: str, when: When) -> None:
    with triggers(staging, table, when, refuse="40001") as struck:
        where = staging.stage.database(AUDITOR)
        with psycopg.connect(where, application_name=APPLICATION) as feed:
            feed.execute(f"INSERT INTO {table} VALUES (1)")
        assert rows(staging, table) == [1]
        assert struck.met == 0
