"""Reading Paimon tables whose snapshots are as Paimon 0.9 writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.harness.sinks.paimon import PaimonTable
from onceproof.harness.sinks.rows import UnreadableFiles

LIST = {"type": "record", "name": "list", "fields": [{"name": "_FILE_NAME", "type": "string"}]}
FILE = {"type": "record", "name": "file", "fields": [{"name": "_FILE_NAME", "type": "string"}]}
MANIFEST = {
    "type": "record",
    "name": "manifest",
    "fields": [
        {"name": "_KIND", "type": "int"},
        {"name": "_BUCKET", "type": "int"},
        {"name": "_FILE", "type": FILE},
    ],
}


class Table:
    """A Paimon table that tests write snapshot by snapshot."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sink = PaimonTable(path, topic="payments", sink="table")
        self._manifests: list[dict[str, Any]] = []
        self._snapshots = 0

    def file(self, name: str, *rows: str | tuple[str, int, int]) -> str:
        """Write a data file; a row is a record, or its record, sequence number and kind."""
        at = self.path / "bucket-1" / name
        at.parent.mkdir(parents=True, exist_ok=True)
        found = [
            {"record": row, "source_offset": 7}
            if isinstance(row, str)
            else {"_SEQUENCE_NUMBER": row[1], "_VALUE_KIND": row[2], "record": row[0]}
            for row in rows
        ]
        pq.write_table(pa.Table.from_pylist(found), at)
        return name

    def commit(self, *added: str, deleted: tuple[str, ...] = ()) -> Path:
        """Add a snapshot; return its file."""
        self._snapshots += 1
        number = self._snapshots
        entries = [
            {"_KIND": kind, "_BUCKET": 1, "_FILE": {"_FILE_NAME": name}}
            for kind, names in ((0, added), (1, deleted))
            for name in names
        ]
        self._avro(f"manifest-{number}", MANIFEST, entries)
        own = {"_FILE_NAME": f"manifest-{number}"}
        self._avro(f"base-{number}", LIST, self._manifests)
        self._avro(f"delta-{number}", LIST, [own])
        self._manifests.append(own)
        path = self.path / "snapshot" / f"snapshot-{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            json.dumps(
                {"baseManifestList": f"base-{number}", "deltaManifestList": f"delta-{number}"}
            )
        )
        (path.parent / "LATEST").write_text(str(number))
        return path

    def records(self) -> list[str | None]:
        return [effect.record for effect in self.sink.effects()]

    def _avro(self, name: str, schema: dict[str, Any], records: list[dict[str, Any]]) -> None:
        path = self.path / "manifest" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as content:
            fastavro.writer(content, schema, records)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "table")


def test_table_without_a_folder_is_empty(table: Table) -> None:
    assert (table.sink.size(), table.records()) == (0, [])


def test_effects_are_rows_of_the_files_of_the_newest_snapshot(table: Table) -> None:
    for number in range(11):  # number 10 comes after 9
        table.commit(table.file(f"{number}.parquet", f"record {number}"))
    table.file("orphan.parquet", "never committed")
    assert table.sink.size() == 11
    assert table.records() == [f"record {number}" for number in range(11)]


def test_deleted_files_are_not_part_of_the_table(table: Table) -> None:
    table.commit(table.file("one.parquet", "a"), table.file("two.parquet", "b"))
    merged = table.file("merged.parquet", "a", "b")
    table.commit(merged, deleted=("one.parquet", "two.parquet"))
    assert table.records() == ["a", "b"]


def test_repeated_row_of_a_table_without_a_key_counts_twice(table: Table) -> None:
    table.commit(table.file("one.parquet", "a"))
    table.commit(table.file("two.parquet", "a"))
    assert table.records() == ["a", "a"]


def test_row_with_the_highest_sequence_number_counts(table: Table) -> None:
    table.commit(table.file("one.parquet", ("a", 0, 0), ("b", 1, 0), ("c", 2, 0)))
    table.commit(table.file("two.parquet", ("a", 3, 2), ("b", 4, 3)))  # changed, deleted
    assert table.records() == ["c", "a"]


@pytest.mark.parametrize("content", ["", "[]", "{}"])
def test_damaged_snapshot_is_named(table: Table, content: str) -> None:
    table.commit(table.file("one.parquet", "a"))
    table.commit().write_text(content)
    with pytest.raises(UnreadableFiles, match="snapshot-2"):
        table.sink.effects()


@pytest.mark.parametrize("content", [None, b"", b"Obj\x01damaged"])
def test_damaged_manifest_is_named(table: Table, content: bytes | None) -> None:
    table.commit(table.file("one.parquet", "a"))
    manifest = table.path / "manifest" / "manifest-1"
    manifest.unlink()
    if content is not None:
        manifest.write_bytes(content)
    with pytest.raises(UnreadableFiles, match="manifest-1"):
        table.sink.effects()
