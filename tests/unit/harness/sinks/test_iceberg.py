"""Reading Iceberg tables whose metadata is as PyIceberg writes it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.io.pyarrow import PyArrowFileIO, schema_to_pyarrow
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import AtomicBatch, Effect
from onceproof.harness.sinks.files import LISTING
from onceproof.harness.sinks.iceberg import METADATA, VIEW, IcebergTable
from onceproof.harness.sinks.rows import UnreadableFiles

SCHEMA = Schema(
    NestedField(1, "record", StringType()),
    NestedField(2, "account", StringType()),
    NestedField(3, "amount_cents", LongType()),
    NestedField(4, "fee_cents", LongType()),
    NestedField(5, "source_partition", IntegerType()),
    NestedField(6, "source_offset", LongType()),
)
DELETES = Schema(
    NestedField(2147483546, "file_path", StringType(), required=True),
    NestedField(2147483545, "pos", LongType(), required=True),
)
ADDED, EXISTING, DELETED = (
    ManifestEntryStatus.ADDED,
    ManifestEntryStatus.EXISTING,
    ManifestEntryStatus.DELETED,
)
DATA, POSITIONS, VALUES = (
    DataFileContent.DATA,
    DataFileContent.POSITION_DELETES,
    DataFileContent.EQUALITY_DELETES,
)
IO = PyArrowFileIO()


class Table:
    """An Iceberg table that tests write file by file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sink = IcebergTable(path, topic="payments", sink="table", listed="folder")
        self.snapshots: list[dict[str, Any]] = []
        self.written: dict[str, ManifestFile] = {}
        self.manifests: list[ManifestFile] = []
        self.version = 0
        for name in (METADATA, "data"):
            (path / name).mkdir(parents=True)

    def write(self, name: str, *records: str) -> str:
        """Write a data file, and return its path."""
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
        return self._parquet(self.path / "data" / name, rows, SCHEMA)

    def delete(self, name: str, *rows: tuple[str, int]) -> str:
        """Write a position delete file, and return its path."""
        positions = [{"file_path": file, "pos": row} for file, row in rows]
        return self._parquet(self.path / METADATA / name, positions, DELETES)

    def _parquet(self, file: Path, rows: list[dict[str, Any]], schema: Schema) -> str:
        pq.write_table(pa.Table.from_pylist(rows, schema=schema_to_pyarrow(schema)), file)
        return str(file)

    def manifest(
        self,
        *files: str,
        status: ManifestEntryStatus = ADDED,
        content: DataFileContent = DATA,
    ) -> str:
        """Write a manifest of the next snapshot; without files, of one deleted file."""
        path = str(self.path / METADATA / f"{len(self.written)}-m0.avro")
        status = status if files else DELETED
        number = len(self.snapshots) + 1
        given = {} if status is ADDED else {"sequence_number": number, "file_sequence_number": 1}
        with write_manifest(
            2, UNPARTITIONED_PARTITION_SPEC, SCHEMA, IO.new_output(path), 700 + number, "deflate"
        ) as writer:
            for file in files or ("gone.parquet",):
                found = DataFile.from_args(
                    content=content,
                    file_path=file,
                    file_format=FileFormat.PARQUET,
                    partition=Record(),
                    record_count=1,
                    file_size_in_bytes=1,
                )
                found.spec_id = 0
                writer.add_entry(
                    ManifestEntry.from_args(
                        status=status, snapshot_id=700 + number, data_file=found, **given
                    )
                )
        self.written[path] = writer.to_manifest_file()
        return path

    def commit(self, *manifests: str, **summary: str) -> Path:
        """Add a snapshot, and return the new metadata file."""
        number = len(self.snapshots) + 1
        for manifest in manifests:
            self.written[manifest].sequence_number = number
            self.written[manifest].min_sequence_number = number
            self.manifests.insert(0, self.written[manifest])
        path = str(self.path / METADATA / f"snap-{number}.avro")
        with write_manifest_list(
            2, IO.new_output(path), 700 + number, None, number, "deflate"
        ) as writer:
            writer.add_manifests(self.manifests)
        self.snapshots.append(
            {
                "snapshot-id": 700 + number,
                "sequence-number": number,
                "timestamp-ms": 1,
                "manifest-list": path,
                "summary": {"operation": "append"} | summary,
            }
        )
        return self.save(self.snapshots, 700 + number)

    def save(
        self, snapshots: list[dict[str, Any]], current: int, *, format_version: int = 2
    ) -> Path:
        self.version += 1
        path = self.path / METADATA / f"v{self.version}.metadata.json"
        content = {
            "format-version": format_version,
            "table-uuid": "8c0a9a0e-93c5-4ab6-a9f5-2f2b0e2a6a40",
            "location": str(self.path),
            "last-sequence-number": len(self.snapshots),
            "last-updated-ms": 1,
            "last-column-id": 6,
            "schemas": [SCHEMA.model_dump(by_alias=True)],
            "current-schema-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "default-spec-id": 0,
            "last-partition-id": 999,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "default-sort-order-id": 0,
            "next-row-id": 0,  # required from format version 3 on
            "schema": SCHEMA.model_dump(by_alias=True),  # required by format version 1
            "partition-spec": [],
            "current-snapshot-id": current,
            "snapshots": snapshots,
        }
        path.write_text(json.dumps(content, default=str))
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


def test_effects_are_rows_of_the_current_snapshot(table: Table) -> None:
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


def test_metadata_versions_are_ordered_by_number(table: Table) -> None:
    for number in range(10):
        table.commit(table.manifest(table.write(f"{number}.parquet", str(number))))
    assert table.seen("table") == [str(number) for number in range(10)]


def test_unfinished_files_are_ignored(table: Table) -> None:
    table.commit(table.manifest(table.write("0.parquet", "a")))
    name = "8c0a9a0e-93c5-4ab6-a9f5-2f2b0e2a6a40.metadata.json"
    (table.path / METADATA / name).write_text("{")
    (table.path / "data" / "1.parquet").write_bytes(b"PAR1")
    assert table.seen("table") == table.seen("folder") == ["a"]


def test_file_in_two_manifests_counts_twice(table: Table) -> None:
    file = table.write("0.parquet", "a")
    table.commit(table.manifest(file))
    table.commit(table.manifest(file, status=EXISTING))
    assert table.seen("table") == ["a", "a"]
    table.commit(table.manifest(file, status=DELETED))
    assert table.seen("table") == ["a", "a"]


def test_snapshots_with_epochs_become_atomic_batches(table: Table) -> None:
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
def test_damaged_metadata_is_refused_with_its_path(table: Table, text: str) -> None:
    path = table.path / METADATA / "v5.metadata.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UnreadableFiles) as error:
        table.sink.effects()
    assert str(path) in str(error.value)


@pytest.mark.parametrize("version", [1, 3])
def test_unsupported_format_version_is_refused(table: Table, version: int) -> None:
    table.commit(table.manifest(table.write("0.parquet", "a")))
    table.save(table.snapshots, 701, format_version=version)
    with pytest.raises(UnreadableFiles, match=f"format version {version}, expected 2"):
        table.sink.effects()


def test_missing_current_snapshot_is_refused(table: Table) -> None:
    table.save([], 701)
    with pytest.raises(UnreadableFiles, match="the current snapshot is missing"):
        table.sink.effects()


def test_compressed_metadata_is_read(table: Table) -> None:
    table.commit(table.manifest(table.write("0.parquet", "a")))
    newest = table.commit(table.manifest(table.write("1.parquet", "b")))
    packed = newest.with_name("v2.gz.metadata.json")
    packed.write_bytes(gzip.compress(newest.read_bytes()))
    newest.unlink()
    assert table.seen("table") == ["a", "b"]


def test_rows_deleted_by_position_do_not_count(table: Table) -> None:
    first, second = table.write("0.parquet", "a", "b", "a"), table.write("1.parquet", "b", "c")
    table.commit(table.manifest(first), **epoch(0))
    table.commit(table.manifest(second))
    deletes = table.delete("deletes.parquet", (first, 0), (first, 1), (second, 1))
    table.commit(table.manifest(deletes, content=POSITIONS))
    assert table.seen("table") == ["a", "b"]
    assert table.seen("folder") == ["a", "b", "a", "b", "c"]
    more_deletes = table.delete("again.parquet", (second, 0), (second, 1))
    table.commit(table.manifest(more_deletes, content=POSITIONS), table.manifest(first))
    assert Counter(table.seen("table")) == Counter(
        ["a", "a", "b", "a"]
    )  # the file was added again after its deletes


def test_equality_delete_file_is_refused(table: Table) -> None:
    table.commit(table.manifest(table.write("0.parquet", "a"), content=VALUES))
    with pytest.raises(UnreadableFiles, match=r"0\.parquet is an equality delete file"):
        table.sink.effects()


def test_missing_position_delete_file_is_refused(table: Table) -> None:
    first = table.write("0.parquet", "a")
    table.commit(table.manifest(first))
    table.commit(table.manifest(str(table.path / "gone.parquet"), content=POSITIONS))
    with pytest.raises(
        UnreadableFiles, match=r"0\.parquet is part of the table but cannot be read"
    ):
        table.sink.effects()


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_unreadable_manifest_is_refused(table: Table, damage: bytes | None) -> None:
    manifest = table.manifest()
    table.commit(manifest)
    Path(manifest).write_bytes(damage) if damage is not None else Path(manifest).unlink()
    with pytest.raises(
        UnreadableFiles, match=r"0-m0\.avro is part of the table but cannot be read"
    ):
        table.sink.effects()


def test_missing_data_file_is_refused(table: Table) -> None:
    table.commit(table.manifest(str(table.path / "data" / "gone.parquet")))
    with pytest.raises(
        UnreadableFiles, match=r"gone\.parquet is part of the table but cannot be read"
    ):
        table.sink.effects()


def test_missing_table_is_empty(tmp_path: Path) -> None:
    sink = IcebergTable(tmp_path / "not yet", topic="payments", sink="table", listed="folder")
    assert (sink.size(), sink.effects(), sink.states(), sink.atomic_batches()) == (0, [], [], [])
    assert not sink.hanging()


def test_table_without_snapshot_is_empty(table: Table) -> None:
    table.save([], -1)
    assert table.sink.effects() == []
