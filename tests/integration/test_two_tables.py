"""Two PostgreSQL tables written by two queries, before and after their creation."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from onceproof.harness.history.identity import digest
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.sinks.base import AtomicBatch
from onceproof.harness.sinks.two_tables import TwoTables
from tests.integration.staging import Staged

pytestmark = pytest.mark.integration

COLUMNS = (
    "seq bigserial, record text, account text, amount_cents bigint, fee_cents bigint, "
    "source_partition int, source_offset bigint, query_id text, batch_id bigint"
)


@pytest.fixture
def database(staging: Staged) -> Iterator[str]:
    database = staging.stage.database(AUDITOR)
    yield database
    with psycopg.connect(database) as connection:  # all tests share the database
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


def test_rows_are_effects_of_their_table(database: str) -> None:
    sink = TwoTables(database, topic="payments")
    assert (sink.size(), sink.effects(), sink.atomic_batches()) == (0, [], [])
    with psycopg.connect(database) as connection:
        for table, records in (("ledger", ("r", "s")), ("archive", ("r",))):
            connection.execute(f"CREATE TABLE {table} ({COLUMNS})")
            for offset, record in enumerate(records):
                connection.execute(
                    f"INSERT INTO {table} (record, account, amount_cents, fee_cents, "
                    "source_partition, source_offset, query_id, batch_id) "
                    "VALUES (%s, 'a', 100, 32, 1, %s, %s, 7)",
                    (record, offset, f"of {table}"),
                )
        connection.execute(
            "CREATE TABLE batches_done (seq bigserial, name text, query_id text, batch_id bigint)"
        )
        connection.execute(
            "INSERT INTO batches_done (query_id, batch_id) VALUES ('of ledger', 7), ('other', 7)"
        )
    assert sink.size() == 3
    found = [(e.sink, e.record, e.source_offset, e.owner, e.batch) for e in sink.effects()]
    assert found == [
        ("ledger", "r", 0, "of ledger", 7),
        ("ledger", "s", 1, "of ledger", 7),
        ("archive", "r", 0, "of archive", 7),
    ]
    assert sink.effects()[0].digest == digest("r", "a", 100, 32)
    assert sink.atomic_batches() == [
        AtomicBatch(owner="of ledger", batch=7, ordinal=1),
        AtomicBatch(owner="other", batch=7, ordinal=2),
    ]


def test_open_transaction_is_hanging(database: str) -> None:
    sink = TwoTables(database, topic="payments")
    assert not sink.hanging()
    with psycopg.connect(database) as connection:
        connection.execute("SELECT 1")
        assert sink.hanging()
    assert not sink.hanging()
