"""Killing the driver at a row of a micro-batch."""

from __future__ import annotations

import importlib.util
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.subject import JOBS
from onceproof.harness.wait import wait_until
from tests.unit.fakes.logs import FakeReader, records
from tests.unit.fakes.pipelines import FakeDriver
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext, effect
from tests.unit.harness.subjects.spark.made_up_checkpoint import (
    as_spark_does,
    begin_at,
    entry,
    plan,
)

SECONDS = 20.0


def job_hook(checkpoint: Path) -> Any:
    """The hook, loaded as jobs do: from the folder of their script."""
    spec = importlib.util.spec_from_file_location("hook", JOBS / "hook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Hook(str(checkpoint))


class Job:
    """Writes batches of five rows in a thread."""

    def __init__(self, checkpoint: Path, batches: int = 1) -> None:
        self.written: list[tuple[int, int]] = []
        self._hook = job_hook(checkpoint)
        self._batches = batches
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        for batch in range(self._batches):
            for row in self._hook.rows(batch, range(1, 6)):
                self.written.append((batch, row))

    def finished(self) -> bool:
        self.thread.join(SECONDS)
        return not self.thread.is_alive()


class Pipeline(FakeDriver):
    """A driver whose micro-batch 0 has five records."""

    def __init__(self, folder: Path) -> None:
        super().__init__(checkpoint=Checkpoint(folder / "checkpoint"), process=FakeProcess())
        self.checkpoint.create()
        begin_at(self.checkpoint, '{"payments": {"0": 0}}')
        plan(self.checkpoint, 0, entry({"payments": {"0": 5}}))

    def kill(self, how: str) -> int:
        assert how == "SIGKILL by fault «x»"
        return super().kill(how)

    def wait_batch(self, batch: int, *, seconds: float) -> None:
        as_spark_does(self.checkpoint.folder / "commits", batch)()


@pytest.fixture
def context(tmp_path: Path) -> Any:
    return FakeContext(pipeline=Pipeline(tmp_path), logs=FakeReader([records(5)]))


def test_job_writes_all_rows_without_a_fault(context: Any) -> None:
    job = Job(context.pipeline.checkpoint.folder, batches=2)
    assert job.finished()
    assert len(job.written) == 10


@pytest.mark.parametrize(("present", "hazard"), [(0, "interrupted-write"), (3, "replayed-batch")])
def test_driver_is_killed_after_the_given_row(context: Any, present: int, hazard: str) -> None:
    context.sink.there += [effect(f"r{n}") for n in range(present)]
    fault = Kill(SparkDriver(), at="row:3").inject(context, "x")
    assert (fault.evidence(), fault.at) == (None, None)
    job = Job(context.pipeline.checkpoint.folder)
    proof = wait_until(fault.evidence, what="the row", seconds=SECONDS)
    assert f"had written 3 of the 5 rows of micro-batch 0; the sink showed {present}" in proof
    assert not context.pipeline.alive()
    assert job.written[:3] == [(0, 1), (0, 2), (0, 3)]
    fault.heal()
    fault.heal()
    assert context.pipeline.lives == 2
    assert [found.hazard for found in context.recorder.hazards] == [hazard]


def test_no_evidence_if_the_batch_has_fewer_records(tmp_path: Path) -> None:
    pipeline = Pipeline(tmp_path)
    context = FakeContext(pipeline=pipeline, logs=FakeReader([records(2)]))
    fault = Kill(SparkDriver(), at="row:3").inject(context, "x")
    Job(pipeline.checkpoint.folder)
    wait_until(lambda: fault.evidence() or not pipeline.alive(), what="the row", seconds=SECONDS)
    assert fault.evidence() is None


def test_job_waits_at_the_row_until_released(context: Any) -> None:
    folder = context.pipeline.checkpoint.folder.parent / "hook"
    Kill(SparkDriver(), at="row:2").inject(context, "x")
    job = Job(context.pipeline.checkpoint.folder)
    wait_until((folder / "reached").exists, what="the row", seconds=SECONDS)
    job.thread.join(0.2)
    assert job.written == [(0, 1), (0, 2)]
    assert json.loads((folder / "reached").read_text()) == {"batch": 0, "row": 2}
    (folder / "reached").unlink()
    assert job.finished()
    assert len(job.written) == 5


def test_heal_of_an_unreached_row_leaves_nothing_behind(context: Any) -> None:
    fault = Kill(SparkDriver(), at="row:6").inject(context, "x")
    job = Job(context.pipeline.checkpoint.folder)
    assert job.finished(), "no batch has six rows"
    assert fault.evidence() is None
    fault.heal()
    later = Job(context.pipeline.checkpoint.folder)
    assert later.finished()
    assert context.pipeline.alive()
    assert context.recorder.hazards == []
    assert not list((context.pipeline.checkpoint.folder.parent / "hook").iterdir())


def test_rejects_invalid_row() -> None:
    with pytest.raises(UnknownFault, match="invalid window 'row:0': expected row:1, row:2"):
        asked("kill", ["driver", "--at", "row:0"])
    with pytest.raises(ValueError, match="expected row:1"):
        Kill(SparkDriver(), at="row:x")
