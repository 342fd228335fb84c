"""A checkpoint cut open while its driver is down, on a pipeline that is made up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.faults.spark import between_batches
from onceproof.harness.faults.spark.between_batches import COMMITS, OFFSETS, Logs, Rested
from onceproof.harness.faults.spark.cut_offset_log import CutOffsetLog
from onceproof.harness.faults.spark.delete_last_commit import DeleteLastCommit
from onceproof.harness.faults.spark.new_checkpoint import NewCheckpoint
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.new_checkpoint import SparkNewCheckpoint
from onceproof.harness.wait import Stop
from tests.unit.harness.faults.targets.made_up_driver import AnyDriver
from tests.unit.harness.subjects.spark.made_up_checkpoint import (
    as_spark_does,
    begin_at,
    entry,
    plan,
)

REST = Rested(instance="driver#1", processes=4, at=7, batch=2, present=30, planned=40)


class Pipeline(AnyDriver):
    """Writes what Spark writes: a batch that is not committed is planned and committed anew."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint = Checkpoint(folder)
        self.checkpoint.create()
        self.lives = 1
        self.running = False
        self.process: Any = None
        self.refuses = False
        self.log = folder / "driver.log"
        self.log.write_text("ERROR\nSTREAM_FAILED terminated with exception: Incomplete file\n at")
        for batch in range(3):
            self._run(batch, end=10 * (batch + 1))

    def alive(self) -> bool:
        return self.running

    def check(self) -> None:
        return None

    def start(self) -> None:
        self.lives += 1
        if self.refuses:
            self.process = SimpleNamespace(
                instance="driver#2", ending=False, leader_alive=lambda: False,
                tail=lambda: "it said this", kill=lambda how: None, log=self.log,
            )  # fmt: skip
            return
        self.running = True
        if 2 not in self.checkpoint.planned():
            self._run(2, end=99)
        as_spark_does(self.checkpoint.folder / COMMITS, 2)()

    def wait_batch(self, batch: int, *, seconds: float) -> None:
        assert batch in self.checkpoint.committed()

    def _run(self, batch: int, end: int) -> None:
        text = entry({"payments": {"0": end}})
        as_spark_does(self.checkpoint.folder / OFFSETS, batch, text)()
        as_spark_does(self.checkpoint.folder / COMMITS, batch)()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    class ToRest:
        def __init__(self, context: object, how: str) -> None:
            assert how == "SIGKILL by fault «x»"

        def rested(self) -> Rested:
            return REST

        def end(self) -> None:
            return None

    for module in ("checkpoint_changed", "cut_offset_log"):
        monkeypatch.setattr(f"onceproof.harness.faults.spark.{module}.ToRest", ToRest)
    monkeypatch.setattr(between_batches, "wait_reads", lambda context: None)
    seen: list[tuple[str, str]] = []

    def hazard(hazard: str, *, hop: str, detail: str, batch: int, **_: Any) -> None:
        assert (hop, batch) == ("process", 0 if hazard == "new-checkpoint" else 2)
        seen.append((hazard, detail))

    return SimpleNamespace(
        pipeline=Pipeline(tmp_path), recorder=SimpleNamespace(hazard=hazard), seen=seen, stop=Stop()
    )


def test_files_are_touched_only_when_the_driver_is_dead(world: Any) -> None:
    world.pipeline.running = True
    with pytest.raises(StageTrouble, match="only when its driver is dead"):
        Logs(world)


def test_what_was_cut_can_be_put_back_to_the_byte(world: Any) -> None:
    def everything() -> dict[Path, bytes]:
        return {
            p: p.read_bytes() for p in world.pipeline.checkpoint.folder.rglob("*") if p.is_file()
        }

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
    fault = DeleteLastCommit().inject(world, "x")
    proof = fault.evidence()
    assert proof is not None
    assert "of whose 40 records the sink had 30; the commit log ends with 1 now" in proof
    assert world.pipeline.checkpoint.committed() == [0, 1]
    assert fault.at == 7
    fault.heal()
    fault.heal()
    assert world.pipeline.lives == 2
    ((hazard, detail),) = world.seen
    assert hazard == "replayed-batch"
    assert "after 30 of its 40 effects were visible" in detail


def test_a_plan_that_is_lost_is_made_anew(world: Any) -> None:
    fault = CutOffsetLog(how="deleted").inject(world, "x")
    assert "offset log and commit log end with 1 now" in str(fault.evidence())
    fault.heal()
    fault.heal()
    ((hazard, detail),) = world.seen
    assert hazard == "replanned-batch"
    assert "planned anew, to end elsewhere" in detail


def test_a_torn_plan_is_refused_and_put_back(world: Any) -> None:
    world.pipeline.refuses = True
    fault = CutOffsetLog(how="torn").inject(world, "x")
    proof = fault.evidence()
    assert proof is not None
    assert "the next life ended by itself, without a commit: «Incomplete file»" in proof
    assert [hazard for hazard, _ in world.seen] == ["torn-offset-log"]
    world.pipeline.refuses = False
    fault.heal()
    fault.heal()
    assert world.pipeline.running
    assert world.pipeline.checkpoint.end_of(2) == {("payments", 0): 30}


def test_a_new_checkpoint_is_of_another_query(
    world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = iter(["old", "new"])

    class AnyQuery(Pipeline, SparkNewCheckpoint):
        def begin_anew(self) -> Checkpoint:
            (former := Checkpoint(tmp_path / "former")).create()
            (former.folder / "metadata").write_text(f'{{"id": "{next(queries)}"}}')
            self.checkpoint = Checkpoint(tmp_path / "empty")
            self.checkpoint.create()
            return former

        def start(self) -> None:
            self.running = True
            (self.checkpoint.folder / "metadata").write_text(f'{{"id": "{next(queries)}"}}')
            self._run(0, end=99)

    world.pipeline = AnyQuery(tmp_path / "whole")
    fault = NewCheckpoint().inject(world, "x")
    proof = fault.evidence()
    assert proof is not None
    assert proof.endswith(
        "the checkpoint of query old was moved away, and an empty one is in its place"
    )
    assert fault.evidence() == proof
    assert fault.at == 7
    fault.heal()
    fault.heal()
    ((hazard, detail),) = world.seen
    assert hazard == "new-checkpoint"
    assert detail == (
        "micro-batch 0 of query new was committed, after micro-batches 0 to 2 of query old"
    )


def test_a_new_query_with_nothing_to_do_tests_nothing(world: Any, tmp_path: Path) -> None:
    class Idle(Pipeline, SparkNewCheckpoint):
        def begin_anew(self) -> Checkpoint:
            (former := Checkpoint(tmp_path / "former")).create()
            self.checkpoint = Checkpoint(tmp_path / "empty")
            self.checkpoint.create()
            return former

        def start(self) -> None:
            self.running = True
            begin_at(self.checkpoint, '{"payments": {"0": 30}}')
            self._run(0, end=30)

    world.pipeline = Idle(tmp_path / "whole")
    fault = NewCheckpoint().inject(world, "x")
    assert fault.evidence() is not None
    fault.heal()
    assert world.seen == []


def test_a_plan_that_is_made_anew_as_it_was_is_a_replay(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = CutOffsetLog(how="deleted").inject(world, "x")
    assert fault.evidence() is not None
    whole = world.pipeline._run
    monkeypatch.setattr(world.pipeline, "_run", lambda batch, end: whole(batch, end=30))
    fault.heal()
    ((hazard, detail),) = world.seen
    assert hazard == "replayed-batch"
    assert "to end where it had ended" in detail


def test_what_never_showed_has_put_nothing_to_the_test(world: Any) -> None:
    fault = DeleteLastCommit().inject(world, "x")
    plan(world.pipeline.checkpoint, 3, entry())
    assert fault.evidence() is None
    fault.heal()
    assert world.seen == []


def test_no_proof_where_a_query_has_begun_already(world: Any, tmp_path: Path) -> None:
    class Hasty(Pipeline, SparkNewCheckpoint):
        def begin_anew(self) -> Checkpoint:
            (self.checkpoint.folder / "metadata").write_text('{"id": "somebody\'s"}')
            return self.checkpoint

    world.pipeline = Hasty(tmp_path / "whole")
    assert NewCheckpoint().inject(world, "x").evidence() is None


def test_who_reads_from_the_beginning_gets_no_new_checkpoint(world: Any) -> None:
    world.subject = SimpleNamespace(name="spark-kafka-sink")
    with pytest.raises(StageTrouble, match="spark-kafka-sink cannot have a new checkpoint"):
        NewCheckpoint().inject(world, "x").evidence()


def test_no_proof_where_the_log_is_not_what_was_left(world: Any) -> None:
    fault = DeleteLastCommit().inject(world, "x")
    plan(world.pipeline.checkpoint, 3, entry())
    assert fault.evidence() is None, "somebody planned another batch"


def test_a_driver_that_ends_for_another_reason_proves_nothing(world: Any) -> None:
    world.pipeline.refuses = True
    world.pipeline.log.write_text("there is no Java here")
    fault = CutOffsetLog(how="torn").inject(world, "x")
    with pytest.raises(StageTrouble, match="driver#2 ended, and not by its query: it said this"):
        fault.evidence()
    world.pipeline.refuses = False
    fault.heal()
    assert world.pipeline.checkpoint.end_of(2) == {("payments", 0): 30}
