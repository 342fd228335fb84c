"""A Spark driver that gets a new checkpoint and so runs another query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.history.tables import Recorded, read_lines
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.sinks.base import AtomicBatch
from onceproof.harness.subjects.spark.new_checkpoint import SparkNewCheckpoint
from onceproof.harness.wait import wait_until
from tests.unit.fakes.pipelines import parts_in
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeSink
from tests.unit.harness.subjects.spark.made_up_checkpoint import as_spark_does, begin_at, entry


@pytest.fixture
def pipeline(tmp_path: Path) -> Iterator[SparkNewCheckpoint]:
    made = SparkNewCheckpoint(
        checkpoint=tmp_path / "checkpoint", command=[], parts=parts_in(tmp_path), jars=[]
    )
    yield made
    made.close()


def run(pipeline: SparkNewCheckpoint, query: str, batch: int, end: int) -> None:
    folder = pipeline.checkpoint.folder
    (folder / "metadata").write_text(json.dumps({"id": query}))
    as_spark_does(folder / "offsets", batch, entry({"in": {"0": end}}))()
    as_spark_does(folder / "commits", batch)()


def test_new_checkpoint_is_empty_and_the_former_one_is_kept(pipeline: SparkNewCheckpoint) -> None:
    for batch, end in enumerate((5, 9)):
        run(pipeline, "q1", batch, end)
    folder = pipeline.checkpoint.folder
    former = pipeline.begin_anew()
    assert (former.query_id(), former.committed(), former.end_of(1)) == (
        "q1",
        [0, 1],
        {("in", 0): 9},
    )
    assert pipeline.checkpoint.folder == folder
    assert (pipeline.checkpoint.query_id(), pipeline.positions()) == (None, None)
    assert pipeline.commits == 2
    run(pipeline, "q2", 0, 11)
    assert pipeline.positions() == {("in", 0): 11}
    assert pipeline.commits == 3
    assert pipeline.begin_anew().query_id() == "q2"
    assert former.query_id() == "q1"


def test_begin_anew_is_refused_while_the_driver_lives(pipeline: SparkNewCheckpoint) -> None:
    pipeline.process = FakeProcess()
    with pytest.raises(PipelineTrouble):
        pipeline.begin_anew()


def test_collects_each_query_by_its_id(pipeline: SparkNewCheckpoint, tmp_path: Path) -> None:
    run(pipeline, "q1", 0, 5)
    begin_at(pipeline.checkpoint, '{"in": {"0": 0}}')
    pipeline.begin_anew()
    run(pipeline, "q2", 0, 9)
    begin_at(pipeline.checkpoint, '{"in": {"0": 5}}')
    progress = [
        {"progress": {"id": query, "runId": f"run of {query}", "batchId": 0, "sources": [
            {"startOffset": None, "endOffset": {"in": {"0": end}}}]}}
        for query, end in (("q1", 5), ("q2", 9))
    ]  # fmt: skip
    done = [AtomicBatch(owner=query, batch=0, ordinal=n) for n, query in enumerate(("q1", "q2"))]
    writer = HistoryWriter(tmp_path, "auditor")
    pipeline.collect(writer, Recorded(lines={"progress": progress}, tables={}), FakeSink(done=done))
    writer.close()
    pipeline.close()
    pipeline.check()
    tables = read_lines(tmp_path).tables
    found = {
        (row["role"], row["sink"], row["owner"], row["offset"])
        for row in tables["positions"].to_pylist()
        if row["kind"] == "done"
    }
    assert found == {
        ("atomic", "ledger", "q1", 5), ("atomic", "ledger", "q2", 9),
        ("resume", None, "q1", 5), ("resume", None, "q2", 9),
    }  # fmt: skip
    ranges = [
        (row["owner"], row["start_offset"], row["end_offset"])
        for row in tables["ranges"].to_pylist()
    ]
    assert ranges == [("q1", 0, 5), ("q2", 5, 9)]


def test_new_checkpoint_is_watched_for_signs(pipeline: SparkNewCheckpoint) -> None:
    pipeline.begin_anew()
    signs: list[str] = []
    pipeline._watch.on_sign = lambda sign, batch: signs.append(f"{sign} {batch}")
    run(pipeline, "q2", 0, 9)
    wait_until(lambda: "committed 0" in signs, what="the commit", seconds=20, seen=lambda: signs)
