"""A pipeline's use of the stage's database: tables, offsets and statement protocol."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.links.topology import AUDITOR, POSTGRES
from onceproof.harness.user_pipeline.statements import APPLICATION, Statements
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration
ENDS = {("orders", 0): 100, ("orders", 1): 97, ("orders", 2): 103}
Client = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def database(staging: Staged) -> Iterator[str]:
    """Connection string of a new database."""
    name = f"of_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(staging.stage.database(AUDITOR), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield psycopg.conninfo.make_conninfo(staging.stage.database(AUDITOR), dbname=name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def client(database: str) -> Iterator[Client]:
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


def tables(database: str, ends: Positions | None = None) -> tuple[tuple[str, ...], str | None]:
    return Statements(database, Path("no log")).tables(ENDS if ends is None else ends)


def put(client: Client, table: str, *rows: int) -> None:
    with client.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", list(enumerate(rows)))


def test_finds_tables_with_rows(database: str, client: Client) -> None:
    assert tables(database) == ((), None)
    client.execute("CREATE TABLE ledger (id int, n int); CREATE TABLE empty (n int)")
    client.execute('CREATE SCHEMA own; CREATE TABLE own."Two Words" (a int, b int)')
    client.execute("CREATE TEMP TABLE passing (a int, b int)")
    for table in ("ledger", 'own."Two Words"', "passing"):
        put(client, table, 1)
    assert tables(database) == (("ledger", 'own."Two Words"'), None)


@pytest.mark.parametrize("behind", [0, 1], ids=["next", "last"])
@pytest.mark.parametrize("kind", ["bigint", "int", "smallint"])
def test_finds_table_with_offsets(database: str, client: Client, behind: int, kind: str) -> None:
    client.execute(f"CREATE TABLE ledger (id int, n int); CREATE TABLE seen (part int, at {kind})")
    put(client, "ledger", *range(300))
    put(client, "seen", *(end - behind for end in ENDS.values()))
    assert tables(database) == (("ledger", "seen"), "seen")


def test_finds_offsets_table_of_several_groups(database: str, client: Client) -> None:
    client.execute("CREATE TABLE seen (part int, at int)")
    put(client, "seen", *ENDS.values(), 3, 4, 5)
    assert tables(database)[1] == "seen"


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ("n serial, at int", range(300)),
        ("part int, at int", [100, 97]),
        ("part int, at int", [100, 97, 100]),
        ("part int, at int", [101, 98, 104]),
        ("part int, at text", [100, 97, 103]),
        ("part int, at float", [100, 97, 103]),
    ],
    ids=["serial", "one-missing", "one-behind", "all-ahead", "text", "float"],
)
def test_table_without_every_offset_is_no_offsets_table(
    database: str, client: Client, columns: str, rows: list[int]
) -> None:
    client.execute(f"CREATE TABLE seen ({columns})")
    put(client, "seen", *rows)
    assert tables(database) == (("seen",), None)


def test_empty_input_has_no_offsets_table(database: str, client: Client) -> None:
    client.execute("CREATE TABLE seen (part int, at int)")
    put(client, "seen", 1)
    assert tables(database, {})[1] is None


class TestStatementProtocol:
    @pytest.fixture
    def log(self, staging: Staged) -> Iterator[Path]:
        """The database's log, while it logs statements."""
        stage = staging.stage
        made = Statements.begin(replace(context(stage), work=staging.folder / "work"))
        assert made is not None
        (server,) = (p for p in staging.living if p.name == POSTGRES)
        eventually(lambda: is_logging_statements(staging), "the database to log statements")
        yield server.log
        with psycopg.connect(stage.database(AUDITOR), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM RESET log_statement")
            connection.execute("ALTER SYSTEM RESET log_line_prefix")
            connection.execute("SELECT pg_reload_conf()")

    @pytest.mark.parametrize(
        "name", ["", "orders", "PostgreSQL JDBC Driver", "app LOG:  x", "(app) 2"]
    )
    @pytest.mark.parametrize(
        ("statement", "more", "how"),
        [
            ("INSERT INTO ledger VALUES ('a')", {}, "simple"),
            ("\n  INSERT INTO ledger\n  VALUES ('a')", {}, "simple"),
            ("INSERT INTO ledger VALUES (%s)", {"params": ["a"]}, "extended"),
            ("\n  INSERT INTO ledger\n  VALUES (%s)", {"params": ["a"]}, "extended"),
            ("UPDATE ledger SET id = %s", {"params": ["a"], "prepare": True}, "prepared"),
            ("SELECT %s FROM ledger", {"params": ["a"], "prepare": True}, None),
        ],
        ids=["simple", "simple-lines", "extended", "extended-lines", "prepared", "reads"],
    )
    def test_reads_protocol_from_the_log(
        self, database: str, log: Path, tmp_path: Path, name: str, statement: str,
        more: dict[str, Any], how: str | None,
    ) -> None:  # fmt: skip
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute("CREATE TABLE ledger (id text)")
        before = log.stat().st_size
        with psycopg.connect(database, autocommit=True, application_name=name) as client:
            client.execute(statement, **more)
        new_lines = tmp_path / "log"
        new_lines.write_bytes(log.read_bytes()[before:])
        assert "ledger" in new_lines.read_text()
        assert Statements(database, new_lines).how() == how

    def test_prepared_takes_precedence_over_extended_and_simple(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        lines = [
            "onceproof-statement (app) LOG:  statement: INSERT INTO a VALUES (1)",
            "onceproof-statement () LOG:  execute <unnamed>: INSERT INTO a VALUES ($1)",
            "onceproof-statement ([unknown]) LOG:  execute S_1: insert into a values ($1)",
        ]
        for count, how in enumerate(("simple", "extended", "prepared"), 1):
            log.write_text("\n".join(lines[:count]))
            assert Statements("", log).how() == how

    @pytest.mark.parametrize("schema", ["", "public.", '"public".'])
    def test_ignores_tables_that_only_the_feed_writes(
        self, database: str, log: Path, schema: str
    ) -> None:
        inbox, relayed = f"inbox_{len(schema)}", f"Relayed_{len(schema)}"
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute(f"CREATE TABLE {inbox} (id text)")
            owner.execute(f"CREATE TABLE {relayed} (id int)")
        with psycopg.connect(database, autocommit=True, application_name=APPLICATION) as feed:
            feed.execute(f"INSERT INTO {schema}{inbox} VALUES ('a')")
        with psycopg.connect(database, autocommit=True) as pipeline:
            pipeline.execute(f"INSERT INTO {relayed} VALUES (1)")
            assert Statements(database, log).tables({})[0] == (relayed.lower(),)
            pipeline.execute(f'DELETE FROM ONLY {schema}"{inbox}" WHERE id = %s', ["b"])
        assert Statements(database, log).tables({})[0] == (inbox, relayed.lower())

    def test_statements_of_the_feed_are_ignored(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        log.write_text(f"onceproof-statement ({APPLICATION}) LOG:  statement: COPY a FROM STDIN\n")
        assert Statements("", log).how() is None

    def test_protocol_is_unknown_without_log(self, tmp_path: Path) -> None:
        assert Statements("", tmp_path / "none").how() is None


def is_logging_statements(staging: Staged) -> bool:
    with psycopg.connect(staging.stage.database(AUDITOR)) as connection:
        return connection.execute("SHOW log_statement").fetchall() == [("all",)]
