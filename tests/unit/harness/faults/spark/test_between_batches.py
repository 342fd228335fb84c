"""Changes to a checkpoint while its driver is down."""

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
    """Restarts as Spark does: an uncommitted batch is planned, if necessary, and committed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(checkpoint=Checkpoint(folder), process=FakeProcess("driver#1"))
        self.checkpoint.create()
        self.fails_to_start = False
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
        if self.fails_to_start:
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


def new_context(pipeline: Pipeline) -> FakeContext:
    """The sink has 7 of the 10 records of the last batch."""
    return FakeContext(
        pipeline=pipeline,
        subject=FakeSubject(name="spark-kafka-sink"),
        logs=FakeReader([records(30)]),
        sink=FakeSink(there=[effect(f"r{n}") for n in range(27)]),
    )


@pytest.fixture
def context(tmp_path: Path) -> FakeContext:
    return new_context(Pipeline(tmp_path))


def test_logs_reject_a_running_driver(context: Any) -> None:
    with pytest.raises(StageTrouble, match="while its driver is running"):
        Logs(context)


def test_put_back_restores_every_file(context: Any) -> None:
    def file_contents() -> dict[Path, bytes]:
        return {
            p: p.read_bytes() for p in context.pipeline.checkpoint.folder.rglob("*") if p.is_file()
        }

    context.pipeline.kill("SIGKILL by fault «x»")
    before, logs = file_contents(), Logs(context)
    logs.delete(COMMITS, 2)
    deleted = before.keys() - file_contents().keys()
    assert {path.name for path in deleted} == {"2", ".2.crc"}
    sizes = logs.truncate(OFFSETS, 2)
    assert sizes == (len(before[context.pipeline.checkpoint.folder / OFFSETS / "2"]), sizes[1])
    assert 0 < sizes[1] < sizes[0]
    with pytest.raises(FileNotFoundError):
        logs.delete(COMMITS, 2)
    logs.put_back()
    assert file_contents() == before


def test_deleted_commit_replays_the_batch(context: Any) -> None:
    before = now()
    fault = DeleteLastCommit().inject(context, "x")
    proof = fault.evidence()
    assert proof is not None
    assert "the sink had 7 of its 10 records; the commit log now ends with 1" in proof
    assert context.pipeline.checkpoint.committed() == [0, 1]
    assert before < fault.at < now()
    fault.heal()
    fault.heal()
    assert context.pipeline.lives == 2
    ((hazard, detail),) = context.recorder.seen
    assert hazard == "replayed-batch"
    assert "; before that, 7 of its 10 effects were visible" in detail


def test_deleted_plan_replans_the_batch(context: Any) -> None:
    fault = CutOffsetLog(how="deleted").inject(context, "x")
    assert "offset log and commit log now end with 1" in str(fault.evidence())
    fault.heal()
    fault.heal()
    ((hazard, detail),) = context.recorder.seen
    assert hazard == "replanned-batch"
    assert "planned again with other end offsets" in detail


def test_torn_plan_stops_the_driver_and_is_restored(context: Any) -> None:
    context.pipeline.fails_to_start = True
    fault = CutOffsetLog(how="torn").inject(context, "x")
    proof = fault.evidence()
    assert proof is not None
    assert "the next driver exited by itself, without a commit: «Incomplete file»" in proof
    assert [hazard for hazard, _ in context.recorder.seen] == ["torn-offset-log"]
    context.pipeline.fails_to_start = False
    fault.heal()
    fault.heal()
    assert context.pipeline.alive()
    assert context.pipeline.checkpoint.end_of(2) == {("payments", 0): 30}


def test_new_checkpoint_starts_another_query(tmp_path: Path) -> None:
    before = now()
    queries = iter(["old", "new"])

    class NewQuery(Pipeline, SparkNewCheckpoint):
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

    context = new_context(NewQuery(tmp_path / "whole"))
    fault = NewCheckpoint().inject(context, "x")
    proof = fault.evidence()
    assert proof is not None
    assert proof.endswith("the checkpoint of query old was replaced by an empty one")
    assert fault.evidence() == proof
    assert before < fault.at < now()
    fault.heal()
    fault.heal()
    ((hazard, detail),) = context.recorder.seen
    assert hazard == "new-checkpoint"
    assert detail == (
        "micro-batch 0 of query new was committed, after micro-batches 0 to 2 of query old"
    )


def test_new_query_without_inputs_is_no_hazard(tmp_path: Path) -> None:
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

    context = new_context(Idle(tmp_path / "whole"))
    fault = NewCheckpoint().inject(context, "x")
    assert fault.evidence() is not None
    fault.heal()
    assert context.recorder.seen == []


def test_replanning_with_the_same_ends_is_a_replay(context: Any) -> None:
    fault = CutOffsetLog(how="deleted").inject(context, "x")
    assert fault.evidence() is not None
    context.pipeline.ends_at = 30
    fault.heal()
    ((hazard, detail),) = context.recorder.seen
    assert hazard == "replayed-batch"
    assert "planned again with the same end offsets" in detail


def test_fault_without_evidence_is_no_hazard(context: Any) -> None:
    fault = DeleteLastCommit().inject(context, "x")
    plan(context.pipeline.checkpoint, 3, entry())
    assert fault.evidence() is None
    fault.heal()
    assert context.recorder.seen == []


def test_no_evidence_if_the_new_checkpoint_has_a_query(tmp_path: Path) -> None:
    class EarlyQuery(Pipeline, SparkNewCheckpoint):
        def begin_anew(self) -> Checkpoint:
            (self.checkpoint.folder / "metadata").write_text('{"id": "somebody\'s"}')
            return self.checkpoint

    context = new_context(EarlyQuery(tmp_path / "whole"))
    assert NewCheckpoint().inject(context, "x").evidence() is None


def test_rejects_a_subject_without_new_checkpoints(context: Any) -> None:
    with pytest.raises(StageTrouble, match="spark-kafka-sink does not support a new checkpoint"):
        NewCheckpoint().inject(context, "x").evidence()


def test_no_evidence_if_the_log_has_changed(context: Any) -> None:
    fault = DeleteLastCommit().inject(context, "x")
    plan(context.pipeline.checkpoint, 3, entry())
    assert fault.evidence() is None, "somebody planned another batch"


def test_rejects_a_driver_exit_without_a_query_error(context: Any) -> None:
    context.pipeline.fails_to_start = True
    context.pipeline.log.write_text("there is no Java here")
    fault = CutOffsetLog(how="torn").inject(context, "x")
    with pytest.raises(StageTrouble, match="driver#2 exited without an error of its query: its"):
        fault.evidence()
    context.pipeline.fails_to_start = False
    fault.heal()
    assert context.pipeline.checkpoint.end_of(2) == {("payments", 0): 30}
