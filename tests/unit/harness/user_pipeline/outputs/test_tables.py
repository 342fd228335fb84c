"""Iceberg and Delta tables as outputs of your pipeline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.iceberg import METADATA
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.user_pipeline.outputs.kind import OutputAccess
from onceproof.harness.user_pipeline.outputs.output import Output, OwnSink
from tests.unit.harness.sinks.test_iceberg import DELETED, VALUES, Table


def open_sink(text: str, work: Path) -> OwnSink:
    where = OutputAccess(database="", reader=cast("LogReader", None), work=work)
    return Output.parse(text, Rule.parse("json:$.record")).open(where, ExpectedEffects())


def records(sink: OwnSink) -> list[str | None]:
    return [effect.record for effect in sink.effects()]


class TestIceberg:
    @pytest.fixture
    def table(self, tmp_path: Path) -> Table:
        return Table(tmp_path / "out")

    @pytest.fixture
    def sink(self, tmp_path: Path) -> OwnSink:
        return open_sink("iceberg:{work}/out", tmp_path)

    def test_missing_table_is_empty(self, sink: OwnSink) -> None:
        assert (sink.name, sink.size(), records(sink), sink.hanging()) == ("out", 0, [], False)

    def test_reads_only_files_of_the_newest_snapshot(self, table: Table, sink: OwnSink) -> None:
        table.write("orphan.parquet", "a", "b")
        assert (sink.size(), records(sink)) == (0, [])
        table.commit(table.manifest(table.write("0.parquet", "a", "b")))
        before = sink.size()
        table.commit(table.manifest(table.write("1.parquet", "c")))
        assert records(sink) == ["a", "b", "c"]
        assert sink.size() > before
        assert len({effect.position for effect in sink.effects()}) == 3
        assert {effect.view for effect in sink.effects()} == {"table"}

    def test_ignores_deleted_files(self, table: Table, sink: OwnSink) -> None:
        deleted = table.write("0.parquet", "a")
        table.commit(table.manifest(deleted, status=DELETED))
        assert records(sink) == []

    def test_rejects_equality_deletes(self, table: Table, sink: OwnSink) -> None:
        table.commit(table.manifest(table.write("0.parquet", "a"), content=VALUES))
        with pytest.raises(UnreadableOutput, match="is an equality delete file"):
            records(sink)

    def test_rejects_metadata_of_another_catalog(self, table: Table, sink: OwnSink) -> None:
        table.commit(table.manifest(table.write("0.parquet", "a"))).rename(
            table.path / METADATA / "00001-5f2a.metadata.json"
        )
        with pytest.raises(
            UnreadableOutput, match=r"00001-5f2a\.metadata\.json, expected metadata"
        ):
            records(sink)


def test_delta_reads_newest_version_and_rejects_deletion_vectors(tmp_path: Path) -> None:
    log = tmp_path / "out" / "_delta_log"
    log.mkdir(parents=True)
    for file, rows in (("0.parquet", ["a", "b"]), ("1.parquet", ["b"])):
        pq.write_table(pa.table({"record": rows}), tmp_path / "out" / file)
    (log / f"{0:020}.json").write_text(json.dumps({"add": {"path": "0.parquet"}}))
    sink = open_sink("delta:{work}/out", tmp_path)
    assert (sink.size(), records(sink)) == (1, ["a", "b"])
    changes = ({"remove": {"path": "0.parquet"}}, {"add": {"path": "1.parquet"}})
    (log / f"{1:020}.json").write_text("\n".join(map(json.dumps, changes)))
    assert (sink.size(), records(sink)) == (2, ["b"])
    marked = {"add": {"path": "1.parquet", "deletionVector": {"cardinality": 1}}}
    (log / f"{2:020}.json").write_text(json.dumps(marked))
    with pytest.raises(UnreadableOutput, match="expected a table without deletion vectors"):
        records(sink)
