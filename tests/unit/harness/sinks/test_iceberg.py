"""An Iceberg table, with metadata as Iceberg 1.11 writes it, of what is looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import AtomicBatch, Effect
from onceproof.harness.sinks.files import LISTING
from onceproof.harness.sinks.iceberg import METADATA, VIEW, IcebergTable
from onceproof.harness.sinks.rows import UnreadableFiles

MANIFESTS = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        {"name": "manifest_path", "type": "string"},
        {"name": "sequence_number", "type": "long"},
    ],
}
ENTRIES = {
    "type": "record",
    "name": "manifest_entry",
    "fields": [
        {"name": "status", "type": "int"},
        {
            "name": "data_file",
            "type": {
                "type": "record",
                "name": "r2",
                "fields": [
                    {"name": "content", "type": "int"},
                    {"name": "file_path", "type": "string"},
                ],
            },
        },
    ],
}
EXISTING, ADDED, DELETED = range(3)


class Table:
    """A table's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sink = IcebergTable(path, topic="payments", sink="table", listed="folder")
        self.snapshots: list[dict[str, Any]] = []
        self.manifests: list[dict[str, Any]] = []
        self.version = 0
        for name in (METADATA, "data"):
            (path / name).mkdir(parents=True)

    def write(self, name: str, *records: str) -> str:
        """A data file; where it is."""
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
        file = self.path / "data" / name
        pq.write_table(pa.Table.from_pylist(rows), file)
        return str(file)

    def manifest(self, *files: str, status: int = ADDED, content: int = 0) -> str:
        path = self.path / METADATA / f"{len(list(self.path.rglob('*.avro')))}-m0.avro"
        entries = [
            {"status": status, "data_file": {"content": content, "file_path": file}}
            for file in files
        ]
        with path.open("wb") as opened:
            fastavro.writer(opened, ENTRIES, entries, codec="deflate")
        return str(path)

    def commit(self, manifest: str, **summary: str) -> Path:
        """One more snapshot; returns the file that says so."""
        number = len(self.snapshots) + 1
        self.manifests.insert(0, {"manifest_path": manifest, "sequence_number": number})
        path = self.path / METADATA / f"snap-{number}.avro"
        with path.open("wb") as opened:
            fastavro.writer(opened, MANIFESTS, self.manifests, codec="deflate")
        self.snapshots.append(
            {
                "snapshot-id": 700 + number,
                "sequence-number": number,
                "manifest-list": str(path),
                "summary": {"operation": "append"} | summary,
            }
        )
        return self.save(self.snapshots, 700 + number)

    def save(self, snapshots: list[dict[str, Any]], current: int) -> Path:
        self.version += 1
        path = self.path / METADATA / f"v{self.version}.metadata.json"
        content = {"format-version": 2, "current-snapshot-id": current, "snapshots": snapshots}
        path.write_text(json.dumps(content))
        (path.parent / f".{path.name}.crc").touch()
        return path

    def seen(self, sink: str) -> list[str | None]:
        return [effect.record for effect in self.sink.effects() if effect.sink == sink]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "a table")


def epoch(number: int, query: str = "query") -> dict[str, str]:
    return {
        "spark.sql.streaming.queryId": query,
        "spark.sql.streaming.epochId": str(number),
    }


def test_only_what_the_newest_snapshot_names_counts(table: Table) -> None:
    table.write("0-orphan.parquet", "a", "b")
    table.commit(table.manifest(table.write("0.parquet", "a", "b")), **epoch(0))
    table.commit(table.manifest(f"file:{table.write('1.parquet', 'c')}"), **epoch(1))
    assert table.seen("table") == ["a", "b", "c"]
    assert table.seen("folder") == ["a", "b", "a", "b", "c"]
    assert table.sink.size() == 3
    assert table.sink.effects()[-1] == Effect(
        sink="table", view=VIEW, record="c", effect_key="", digest=digest("c", "a", 100, 32),
        position="1.parquet row 0", ordinal=2,
        source_topic="payments", source_partition=2, source_offset=0,
    )  # fmt: skip
    assert table.sink.effects()[0].view == LISTING


def test_the_tenth_commit_is_newer_than_the_ninth(table: Table) -> None:
    for number in range(10):
        table.commit(table.manifest(table.write(f"{number}.parquet", str(number))))
    assert table.seen("table") == [str(number) for number in range(10)]


def test_what_is_being_written_is_not_there_yet(table: Table) -> None:
    table.commit(table.manifest(table.write("0.parquet", "a")))
    name = "8c0a9a0e-93c5-4ab6-a9f5-2f2b0e2a6a40.metadata.json"
    (table.path / METADATA / name).write_text("{")
    (table.path / "data" / "1.parquet").write_bytes(b"PAR1")
    assert table.seen("table") == table.seen("folder") == ["a"]


def test_a_file_that_counts_twice_is_there_twice(table: Table) -> None:
    file = table.write("0.parquet", "a")
    table.commit(table.manifest(file))
    table.commit(table.manifest(file, status=EXISTING))
    assert table.seen("table") == ["a", "a"]
    table.commit(table.manifest(file, status=DELETED))
    assert table.seen("table") == ["a", "a"]


def test_snapshots_name_the_epochs_of_their_queries(table: Table) -> None:
    table.commit(table.manifest(), **epoch(3))
    table.commit(table.manifest())
    table.commit(table.manifest(), **epoch(4, "other"))
    table.save(list(reversed(table.snapshots)), 703)
    assert table.sink.atomic_batches() == [
        AtomicBatch(owner="query", batch=3, ordinal=0),
        AtomicBatch(owner="other", batch=4, ordinal=1),
    ]
    table.save(table.snapshots[2:], 703)
    assert table.sink.atomic_batches() == [AtomicBatch(owner="other", batch=4, ordinal=0)]


@pytest.mark.parametrize(
    "text", ["nonsense", "7", "{}", '{"format-version": 1, "snapshots": []}', "\udcff"]
)
def test_metadata_that_is_damaged_is_named(table: Table, text: str) -> None:
    path = table.path / METADATA / "v5.metadata.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UnreadableFiles) as error:
        table.sink.effects()
    assert str(path) in str(error.value)


def test_a_table_that_takes_rows_away_is_told(table: Table) -> None:
    table.commit(table.manifest(table.write("0.parquet", "a"), content=1))
    with pytest.raises(UnreadableFiles, match=r"0\.parquet takes rows away from other files"):
        table.sink.effects()


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_manifest_that_cannot_be_read_is_told(table: Table, damage: bytes | None) -> None:
    manifest = table.manifest()
    table.commit(manifest)
    Path(manifest).write_bytes(damage) if damage is not None else Path(manifest).unlink()
    with pytest.raises(UnreadableFiles, match=r"0-m0\.avro: it counts, and cannot be read"):
        table.sink.effects()


def test_a_file_that_cannot_be_read_is_told(table: Table) -> None:
    table.commit(table.manifest(str(table.path / "data" / "gone.parquet")))
    with pytest.raises(UnreadableFiles, match=r"gone\.parquet: it counts, and cannot be read"):
        table.sink.effects()


def test_before_the_first_commit_there_is_nothing(tmp_path: Path) -> None:
    sink = IcebergTable(tmp_path / "not yet", topic="payments", sink="table", listed="folder")
    assert (sink.size(), sink.effects(), sink.states(), sink.atomic_batches()) == (0, [], [], [])
    assert not sink.hanging()


def test_a_table_without_a_snapshot_is_empty(table: Table) -> None:
    table.save([], -1)
    assert table.sink.effects() == []
