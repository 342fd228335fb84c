"""A checkpoint cut open while its driver is down, on a pipeline that is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.clock import now
from onceproof.harness.faults.spark.between_batches import COMMITS, OFFSETS, Logs
from onceproof.harness.faults.spark.cut_offset_log import CutOffsetLog
from onceproof.harness.faults.spark.delete_last_commit import DeleteLastCommit
from onceproof.harness.faults.spark.new_checkpoint import NewCheckpoint
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.new_checkpoint import SparkNewCheckpoint
from tests.unit.fakes.logs import FakeReader, records
from tests.unit.fakes.pipelines import FakeDriver
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext, FakeSink, FakeSubject, effect
from tests.unit.harness.subjects.spark.made_up_checkpoint import (
    as_spark_does,
    begin_at,
    entry,
    plan,
)


class Pipeline(FakeDriver):
    """Writes what Spark writes: a batch that is not committed is planned and committed anew."""

    def __init__(self, folder: Path) -> None:
        super().__init__(checkpoint=Checkpoint(folder), process=FakeProcess("driver#1"))
        self.checkpoint.create()
        self.refuses = False
        self.ends_at = 99
        self.log = folder / "driver.log"
        self.log.write_text("ERROR\nSTREAM_FAILED terminated with exception: Incomplete file\n at")
        for batch in range(3):
            self._run(batch, end=10 * (batch + 1))

    def kill(self, how: str) -> int:
        assert how == "SIGKILL by fault «x»"
        return super().kill(how)

    def start(self) -> None:
        super().start()
        if self.refuses:
            self.process = FakeProcess(f"driver#{self.lives}", lives=False, log=self.log)
            return
        if 2 not in self.checkpoint.planned():
            self._run(2, end=self.ends_at)
        as_spark_does(self.checkpoint.folder / COMMITS, 2)()

    def wait_batch(self, batch: int, *, seconds: float) -> None:
        assert batch in self.checkpoint.committed()

    def _run(self, batch: int, end: int) -> None:
        text = entry({"payments": {"0": end}})
        as_spark_does(self.checkpoint.folder / OFFSETS, batch, text)()
        as_spark_does(self.checkpoint.folder / COMMITS, batch)()


def context(pipeline: Pipeline) -> FakeContext:
    """Of the 10 records of the last batch the sink has 7."""
    return FakeContext(
        pipeline=pipeline,
        subject=FakeSubject(name="spark-kafka-sink"),
        logs=FakeReader([records(30)]),
        sink=FakeSink(there=[effect(f"r{n}") for n in range(27)]),
    )


@pytest.fixture
def world(tmp_path: Path) -> FakeContext:
    return context(Pipeline(tmp_path))


def test_files_are_touched_only_when_the_driver_is_dead(world: Any) -> None:
    with pytest.raises(StageTrouble, match="while its driver is running"):
        Logs(world)


def test_what_was_cut_can_be_put_back_to_the_byte(world: Any) -> None:
    def everything() -> dict[Path, bytes]:
        return {
            p: p.read_bytes() for p in world.pipeline.checkpoint.folder.rglob("*") if p.is_file()
        }

    world.pipeline.kill("SIGKILL by fault «x»")
    before, logs = everything(), Logs(world)
    logs.delete(COMMITS, 2)
    gone = before.keys() - everything().keys()
    assert {path.name for path in gone} == {"2", ".2.crc"}
    sizes = logs.truncate(OFFSETS, 2)
    assert sizes == (len(before[world.pipeline.checkpoint.folder / OFFSETS / "2"]), sizes[1])
    assert 0 < sizes[1] < sizes[0]
    with pytest.raises(FileNotFoundError):
        logs.delete(COMMITS, 2)
    logs.put_back()
    assert everything() == before


def test_a_commit_that_is_lost_makes_the_batch_run_again(world: Any) -> None:
    before = now()
    fault = DeleteLastCommit().inject(world, "x")
    proof = fault.evidence()
    assert proof is not None
    assert "the sink had 7 of its 10 records; the commit log now ends with 1" in proof
    assert world.pipeline.checkpoint.committed() == [0, 1]
    assert before < fault.at < now()
    fault.heal()
    fault.heal()
    assert world.pipeline.lives == 2
    ((hazard, detail),) = world.recorder.seen
    assert hazard == "replayed-batch"
    assert "; before that, 7 of its 10 effects were visible" in detail


def test_a_plan_that_is_lost_is_made_anew(world: Any) -> None:
    fault = CutOffsetLog(how="deleted").inject(world, "x")
    assert "offset log and commit log now end with 1" in str(fault.evidence())
    fault.heal()
    fault.heal()
    ((hazard, detail),) = world.recorder.seen
    assert hazard == "replanned-batch"
    assert "planned again with other end offsets" in detail


def test_a_torn_plan_is_refused_and_put_back(world: Any) -> None:
    world.pipeline.refuses = True
    fault = CutOffsetLog(how="torn").inject(world, "x")
    proof = fault.evidence()
    assert proof is not None
    assert "the next driver exited by itself, without a commit: «Incomplete file»" in proof
    assert [hazard for hazard, _ in world.recorder.seen] == ["torn-offset-log"]
    world.pipeline.refuses = False
    fault.heal()
    fault.heal()
    assert world.pipeline.alive()
    assert world.pipeline.checkpoint.end_of(2) == {("payments", 0): 30}


def test_a_new_checkpoint_is_of_another_query(tmp_path: Path) -> None:
    before = now()
    queries = iter(["old", "new"])

    class AnyQuery(Pipeline, SparkNewCheckpoint):
        def begin_anew(self) -> Checkpoint:
            (former := Checkpoint(tmp_path / "former")).create()
            (former.folder / "metadata").write_text(f'{{"id": "{next(queries)}"}}')
            self.checkpoint = Checkpoint(tmp_path / "empty")
            self.checkpoint.create()
            return former

        def start(self) -> None:
            FakeDriver.start(self)
            (self.checkpoint.folder / "metadata").write_text(f'{{"id": "{next(queries)}"}}')
            self._run(0, end=99)

    world = context(AnyQuery(tmp_path / "whole"))
    fault = NewCheckpoint().inject(world, "x")
    proof = fault.evidence()
    assert proof is not None
    assert proof.endswith("the checkpoint of query old was replaced by an empty one")
    assert fault.evidence() == proof
    assert before < fault.at < now()
    fault.heal()
    fault.heal()
    ((hazard, detail),) = world.recorder.seen
    assert hazard == "new-checkpoint"
    assert detail == (
        "micro-batch 0 of query new was committed, after micro-batches 0 to 2 of query old"
    )


def test_a_new_query_with_nothing_to_do_tests_nothing(tmp_path: Path) -> None:
    class Idle(Pipeline, SparkNewCheckpoint):
        def begin_anew(self) -> Checkpoint:
            (former := Checkpoint(tmp_path / "former")).create()
            self.checkpoint = Checkpoint(tmp_path / "empty")
            self.checkpoint.create()
            return former

        def start(self) -> None:
            FakeDriver.start(self)
            begin_at(self.checkpoint, '{"payments": {"0": 30}}')
            self._run(0, end=30)

    world = context(Idle(tmp_path / "whole"))
    fault = NewCheckpoint().inject(world, "x")
    assert fault.evidence() is not None
    fault.heal()
    assert world.recorder.seen == []


def test_a_plan_that_is_made_anew_as_it_was_is_a_replay(world: Any) -> None:
    fault = CutOffsetLog(how="deleted").inject(world, "x")
    assert fault.evidence() is not None
    world.pipeline.ends_at = 30
    fault.heal()
    ((hazard, detail),) = world.recorder.seen
    assert hazard == "replayed-batch"
    assert "planned again with the same end offsets" in detail


def test_what_never_showed_has_put_nothing_to_the_test(world: Any) -> None:
    fault = DeleteLastCommit().inject(world, "x")
    plan(world.pipeline.checkpoint, 3, entry())
    assert fault.evidence() is None
    fault.heal()
    assert world.recorder.seen == []


def test_no_proof_where_a_query_has_begun_already(tmp_path: Path) -> None:
    class Hasty(Pipeline, SparkNewCheckpoint):
        def begin_anew(self) -> Checkpoint:
            (self.checkpoint.folder / "metadata").write_text('{"id": "somebody\'s"}')
            return self.checkpoint

    world = context(Hasty(tmp_path / "whole"))
    assert NewCheckpoint().inject(world, "x").evidence() is None


def test_who_reads_from_the_beginning_gets_no_new_checkpoint(world: Any) -> None:
    with pytest.raises(StageTrouble, match="spark-kafka-sink does not support a new checkpoint"):
        NewCheckpoint().inject(world, "x").evidence()


def test_no_proof_where_the_log_is_not_what_was_left(world: Any) -> None:
    fault = DeleteLastCommit().inject(world, "x")
    plan(world.pipeline.checkpoint, 3, entry())
    assert fault.evidence() is None, "somebody planned another batch"


def test_a_driver_that_ends_for_another_reason_proves_nothing(world: Any) -> None:
    world.pipeline.refuses = True
    world.pipeline.log.write_text("there is no Java here")
    fault = CutOffsetLog(how="torn").inject(world, "x")
    with pytest.raises(StageTrouble, match="driver#2 exited without an error of its query: its"):
        fault.evidence()
    world.pipeline.refuses = False
    fault.heal()
    assert world.pipeline.checkpoint.end_of(2) == {("payments", 0): 30}
