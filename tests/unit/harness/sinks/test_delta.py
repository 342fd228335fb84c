"""Reading Delta tables whose log is as Delta 4 writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import AtomicBatch, Effect
from onceproof.harness.sinks.delta import LOG, VIEW, DeltaTable
from onceproof.harness.sinks.rows import UnreadableFiles


class Table:
    """A Delta table that tests write file by file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sink = DeltaTable(path, topic="payments", sink="table")
        (path / LOG).mkdir(parents=True)

    def write(self, name: str, *records: str) -> dict[str, Any]:
        """Write a data file, and return the action that adds it."""
        rows = [
            {
                "record": record,
                "account": "a",
                "amount_cents": 100,
                "fee_cents": 32,
                "source_partition": 2,
                "source_offset": number,
            }
            for number, record in enumerate(records)
        ]
        pq.write_table(pa.Table.from_pylist(rows), self.path / name)
        return {"add": {"path": name.replace(" ", "%20"), "dataChange": True}}

    def commit(self, version: int, *actions: dict[str, Any]) -> None:
        text = "".join(json.dumps(action) + "\n" for action in actions)
        (self.path / LOG / f"{version:020}.json").write_text(text)
        (self.path / LOG / f".{version:020}.json.crc").write_text("sum")
        (self.path / LOG / f"{version:020}.crc").write_text("{}")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "table")


def txn(version: int, app: str = "query") -> dict[str, Any]:
    return {"txn": {"appId": app, "version": version, "lastUpdated": 7}}


def test_effects_are_rows_of_committed_files(table: Table) -> None:
    table.write("part-0-orphan.parquet", "a", "b")
    table.commit(0, {"protocol": {}}, txn(0), table.write("part 0 again.parquet", "a", "b"))
    table.commit(1, txn(1), table.write("part-1.parquet", "c"))
    assert [effect.record for effect in table.sink.effects()] == ["a", "b", "c"]
    assert table.sink.size() == 2
    assert table.sink.effects()[1] == Effect(
        sink="table", view=VIEW, record="b", effect_key="", digest=digest("b", "a", 100, 32),
        position="part 0 again.parquet row 1", ordinal=1,
        source_topic="payments", source_partition=2, source_offset=1,
    )  # fmt: skip


def test_file_added_twice_counts_once(table: Table) -> None:
    """In the Delta protocol, the newest action of a path wins."""
    add = table.write("part-0.parquet", "a")
    table.commit(0, add)
    table.commit(1, add)
    assert [effect.record for effect in table.sink.effects()] == ["a"]


def test_removed_files_do_not_count(table: Table) -> None:
    table.commit(0, table.write("part-0.parquet", "a", "b"), table.write("part-1.parquet", "c"))
    removal = {"remove": {"path": "part-0.parquet", "dataChange": True}}
    table.commit(1, removal, table.write("part-2.parquet", "a", "b", "d"))
    assert [effect.record for effect in table.sink.effects()] == ["c", "a", "b", "d"]
    assert table.sink.size() == 2
    table.commit(2, {"remove": {"path": "part-1.parquet"}}, table.write("part-1.parquet", "e"))
    assert [effect.record for effect in table.sink.effects()] == ["a", "b", "d", "e"]


def test_deletion_vector_is_refused(table: Table) -> None:
    add = table.write("part-0.parquet", "a")
    add["add"]["deletionVector"] = {"storageType": "u", "cardinality": 1}
    table.commit(0, add)
    with pytest.raises(UnreadableFiles, match=r"part-0\.parquet has a deletion vector"):
        table.sink.effects()


@pytest.mark.parametrize(
    ("action", "feature"),
    [
        ({"protocol": {"readerFeatures": ["deletionVectors", "variantType"]}}, "variantType"),
        ({"metaData": {"configuration": {"delta.columnMapping.mode": "name"}}}, "columnMapping"),
    ],
)
def test_unsupported_reader_feature_is_refused(
    table: Table, action: dict[str, Any], feature: str
) -> None:
    table.commit(0, action, table.write("part-0.parquet", "a"))
    with pytest.raises(UnreadableFiles, match=f"unsupported reader features {feature};"):
        table.sink.effects()


def test_unused_reader_feature_is_accepted(table: Table) -> None:
    protocol = {"protocol": {"readerFeatures": ["deletionVectors", "columnMapping"]}}
    unused = {"metaData": {"configuration": {"delta.columnMapping.mode": "none"}}}
    table.commit(0, protocol, unused, table.write("part-0.parquet", "a"))
    assert [effect.record for effect in table.sink.effects()] == ["a"]


def test_log_without_its_first_version_is_refused(table: Table) -> None:
    table.commit(3, table.write("part-0.parquet", "a"))
    with pytest.raises(UnreadableFiles, match="version 0 is missing, expected every version"):
        table.sink.effects()


def test_compacted_log_and_checkpoint_are_ignored(table: Table) -> None:
    add = table.write("part-0.parquet", "a")
    table.commit(0, add)
    (table.path / LOG / f"{0:020}.{1:020}.compacted.json").write_text(json.dumps(add))
    (table.path / LOG / "_last_checkpoint").write_text("{}")
    assert [effect.record for effect in table.sink.effects()] == ["a"]
    assert table.sink.size() == 1


def test_txn_actions_become_atomic_batches(table: Table) -> None:
    table.commit(0, txn(3), table.write("part-0.parquet", "a"))
    table.commit(1, table.write("part-1.parquet", "b"))
    table.commit(2, txn(4, app="other"))
    assert table.sink.atomic_batches() == [
        AtomicBatch(owner="query", batch=3, ordinal=0),
        AtomicBatch(owner="other", batch=4, ordinal=1),
    ]


@pytest.mark.parametrize("text", ["nonsense", '{"remove": {}}', '{"add": {"path": 7}}', "7", "{}"])
def test_malformed_commit_is_refused_and_quoted(table: Table, text: str) -> None:
    path = table.path / LOG / f"{0:020}.json"
    path.write_text(text)
    with pytest.raises(UnreadableFiles) as error:
        table.sink.effects()
    assert str(path) in str(error.value)
    assert repr(text) in str(error.value)


def test_missing_data_file_is_refused(table: Table) -> None:
    table.commit(0, {"add": {"path": "gone.parquet"}})
    with pytest.raises(
        UnreadableFiles, match=r"gone\.parquet is part of the output but cannot be read"
    ):
        table.sink.effects()


def test_missing_table_is_empty(tmp_path: Path) -> None:
    sink = DeltaTable(tmp_path / "not yet", topic="payments", sink="table")
    assert (sink.size(), sink.effects(), sink.states(), sink.atomic_batches()) == (0, [], [], [])
    assert not sink.hanging()
