"""Reading Hudi tables whose timeline is as Hudi 1.2 writes it for table version 6."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.harness.sinks.base import AtomicBatch
from onceproof.harness.sinks.hudi import TIMELINE, HudiTable
from onceproof.harness.sinks.rows import UnreadableFiles

PROPERTIES = (
    "#Properties saved on 2026-11-30\nhoodie.table.version=6\nhoodie.table.type=COPY_ON_WRITE\n"
    "hoodie.table.base.file.format=PARQUET\nhoodie.archivelog.folder=archived\n"
)


class Table:
    """A Hudi table that tests write commit by commit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sink = HudiTable(path, topic="payments", sink="table")
        self._instant = 20261130204350346

    def begin(self, properties: str = PROPERTIES) -> None:
        (self.path / TIMELINE).mkdir(parents=True)
        (self.path / TIMELINE / "hoodie.properties").write_text(properties)

    def file(self, group: str, *records: str) -> dict[str, str]:
        """Write the next version of a file group."""
        name = f"{group}_0-1-2_{self._instant}.parquet"
        rows = [{"_hoodie_record_key": r, "record": r, "source_offset": 7} for r in records]
        pq.write_table(pa.Table.from_pylist(rows), self.path / name)
        return {"fileId": group, "path": name}

    def commit(
        self, *files: dict[str, str], batch: int | None = None, replaced: tuple[str, ...] = ()
    ) -> Path:
        """Write the states of an action; return the file of the last one."""
        content: dict[str, Any] = {
            "partitionToWriteStats": {"": list(files)},
            "extraMetadata": {"schema": "…"},
        }
        if batch is not None:
            named = json.dumps({"default_single_writer": str(batch)})
            content["extraMetadata"]["_hudi_streaming_sink_checkpoint"] = named
        if replaced:
            content["partitionToReplaceFileIds"] = {"": list(replaced)}
        action = "replacecommit" if replaced else "commit"
        at = self.path / TIMELINE / f"{self._instant}.{action}"
        at.with_name(f"{at.name}.requested").write_text("")
        at.with_name(f".{at.name}.crc").write_text("sum")
        at.write_text(json.dumps(content))
        self._instant += 1
        return at

    def records(self) -> list[str | None]:
        return [effect.record for effect in self.sink.effects()]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "table")


def test_table_without_a_folder_is_empty(table: Table) -> None:
    assert (table.sink.size(), table.records(), table.sink.atomic_batches()) == (0, [], [])


def test_effects_are_rows_of_the_newest_file_of_each_group(table: Table) -> None:
    table.begin()
    table.commit(table.file("one", "a"))
    table.commit(table.file("one", "a", "b"), table.file("two", "c"))
    table.file("one", "a", "b", "of a write that was never committed")
    assert table.sink.size() == 2
    assert table.records() == ["a", "b", "c"]
    (first, *_) = table.sink.effects()
    assert (first.source_topic, first.source_offset) == ("payments", 7)


def test_replaced_groups_are_not_part_of_the_table(table: Table) -> None:
    table.begin()
    table.commit(table.file("one", "a"))
    table.commit(table.file("two", "b"))
    table.commit(table.file("three", "a", "b"), replaced=("one", "two"))
    assert table.records() == ["a", "b"]


def test_batches_are_those_that_commits_name(table: Table) -> None:
    table.begin()
    table.commit(table.file("one", "a"), batch=0)
    table.commit(table.file("one", "a", "b"))
    table.commit(table.file("one", "a", "b", "c"), batch=4)
    writer = "default_single_writer"
    assert table.sink.atomic_batches() == [
        AtomicBatch(owner=writer, batch=0, ordinal=0),
        AtomicBatch(owner=writer, batch=4, ordinal=1),
    ]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("hoodie.table.version", "9"),
        ("hoodie.table.type", "MERGE_ON_READ"),
        ("hoodie.table.base.file.format", "ORC"),
    ],
)
def test_refuses_tables_that_it_would_misread(table: Table, name: str, other: str) -> None:
    lines = [line for line in PROPERTIES.splitlines() if not line.startswith(name)]
    table.begin("\n".join([*lines, f"{name}={other}"]))
    table.commit(table.file("one", "a"))
    with pytest.raises(UnreadableFiles, match=f"{name}={other}, expected"):
        table.sink.effects()


def test_refuses_a_table_with_archived_commits(table: Table) -> None:
    table.begin()
    table.commit(table.file("one", "a"))
    archived = table.path / TIMELINE / "archived"
    archived.mkdir()
    assert table.records() == ["a"]
    (archived / ".commits_.archive.1").write_text("")
    with pytest.raises(UnreadableFiles, match="commits were archived"):
        table.sink.effects()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}"])
def test_damaged_commit_is_named(table: Table, content: str) -> None:
    table.begin()
    path = table.commit(table.file("one", "a"))
    path.write_text(content)
    with pytest.raises(UnreadableFiles, match=path.name):
        table.sink.effects()


def test_missing_properties_are_named(table: Table) -> None:
    table.begin()
    table.commit(table.file("one", "a"))
    (table.path / TIMELINE / "hoodie.properties").unlink()
    with pytest.raises(UnreadableFiles, match=r"hoodie\.properties"):
        table.sink.effects()
