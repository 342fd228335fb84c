"""A Spark driver with two queries: joint progress, and triggers on each in turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness.context.pipeline import WatchTrouble
from onceproof.harness.faults.spark.driver import sink_of_batches
from onceproof.harness.history.tables import Recorded, read_lines
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.sinks.base import AtomicBatch
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.crash_points import AFTER_COMMIT
from onceproof.harness.subjects.spark.two_checkpoints import SparkTwoCheckpoints, second
from onceproof.harness.wait import wait_until
from tests.unit.fakes.pipelines import parts_in
from tests.unit.fakes.run_context import FakeContext, FakeSink
from tests.unit.harness.subjects.spark.made_up_checkpoint import as_spark_does, entry


class World:
    """A pipeline and its two checkpoints."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pipeline = SparkTwoCheckpoints(
            checkpoint=folder / "checkpoint", command=[], parts=parts_in(folder), jars=[]
        )
        first = Checkpoint(folder / "checkpoint")
        self.both = (first, Checkpoint(second(first.folder)))
        for name, checkpoint in zip(("q1", "q2"), self.both, strict=True):
            (checkpoint.folder / "metadata").write_text(json.dumps({"id": name}))

    def plan(self, which: int, batch: int, *ends: int) -> None:
        text = entry({"in": {str(p): end for p, end in enumerate(ends)}})
        as_spark_does(self.both[which].folder / "offsets", batch, text)()

    def commit(self, which: int, batch: int) -> None:
        as_spark_does(self.both[which].folder / "commits", batch)()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.pipeline.close()


def test_positions_are_those_of_the_slower_query(world: World) -> None:
    assert (world.pipeline.positions(), world.pipeline.flows()) == (None, False)
    world.plan(0, 0, 5, 7)
    world.commit(0, 0)
    assert world.pipeline.positions() == {("in", 0): 0, ("in", 1): 0}
    assert not world.pipeline.flows()
    world.plan(1, 0, 9)
    assert not world.pipeline.idle()
    world.commit(1, 0)
    assert world.pipeline.positions() == {("in", 0): 5, ("in", 1): 0}
    assert world.pipeline.flows()
    assert world.pipeline.idle()
    world.plan(0, 1, 6, 7)
    assert not world.pipeline.idle()


@pytest.mark.parametrize("which", [0, 1])
def test_failed_watch_of_either_checkpoint_is_reported(world: World, which: int) -> None:
    world.pipeline.check()
    (world.both[which].folder / "offsets" / "0").write_text("what is this")
    with pytest.raises(WatchTrouble, match=world.both[which].folder.name):
        wait_until(world.pipeline.check, what="the trouble", seconds=20)


def test_triggers_alternate_between_queries(world: World) -> None:
    targets, sink = [], sink_of_batches(FakeContext())
    for _ in range(3):
        trigger = world.pipeline.crash_point_trigger(AFTER_COMMIT, sink, "a fault")
        targets.append(world.pipeline.checkpoint.query_id())
        trigger.end()
    assert targets == ["q1", "q2", "q1"]


def test_collects_each_query_by_its_id(world: World) -> None:
    for which, end in ((0, 5), (1, 9)):
        world.plan(which, 0, end)
        world.commit(which, 0)
    progress = [
        {"id": query, "runId": f"run of {query}", "batchId": 0, "sources": [
            {"startOffset": None, "endOffset": {"in": {"0": end}}}]}
        for query, end in (("q1", 5), ("q2", 9))
    ]  # fmt: skip
    lines = {"progress": [{"progress": each} for each in progress]}
    done = [AtomicBatch(owner=query, batch=0, ordinal=n) for n, query in enumerate(("q1", "q2"))]
    writer = HistoryWriter(world.folder, "auditor")
    world.pipeline.collect(writer, Recorded(lines=lines, tables={}), FakeSink(done=done))
    writer.close()
    world.pipeline.close()
    world.pipeline.check()
    tables = read_lines(world.folder).tables
    found = {
        (row["role"], row["sink"], row["owner"], row["offset"])
        for row in tables["positions"].to_pylist()
        if row["kind"] == "done"
    }
    assert found == {
        ("atomic", "ledger", "q1", 5), ("atomic", "archive", "q2", 9),
        ("resume", None, "q1", 5), ("resume", None, "q2", 9),
    }  # fmt: skip
    ranges = {(row["owner"], row["end_offset"]) for row in tables["ranges"].to_pylist()}
    assert ranges == {("q1", 5), ("q2", 9)}
