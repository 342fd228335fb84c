"""Faults of the Spark driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.crash_point_trigger import StruckProcess
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from tests.unit.fakes.logs import FakeReader, records
from tests.unit.fakes.pipelines import FakeDriver, FakeTrigger
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import (
    FakeContext,
    FakeRecorder,
    FakeSink,
    FakeSinkOfSums,
    FakeSubject,
    effect,
)
from tests.unit.harness.subjects.spark.made_up_checkpoint import entry, plan, save


class Pipeline(FakeDriver):
    last_committed = 3


def test_pause_is_proved_by_missed_batches() -> None:
    driver = FakeProcess()
    context = FakeContext(pipeline=Pipeline(process=driver))
    injection = Pause(SparkDriver()).inject(context, "pause-1")
    assert injection.evidence() is None
    context.producers.acknowledged = 150
    assert injection.evidence() == (
        "all 4 processes of driver#1 are paused; meanwhile 50 records were acknowledged and no "
        "micro-batch was committed"
    )
    context.pipeline.last_committed = 4
    assert injection.evidence() is None, "somebody committed"
    injection.heal()
    assert not driver.still


def test_before_sink_commit_requires_a_sink_with_a_log() -> None:
    context = FakeContext(pipeline=Pipeline(), subject=FakeSubject(name="spark-kafka-sink"))
    with pytest.raises(StageTrouble, match="needs a sink with a log, which spark-kafka-sink"):
        Kill(SparkDriver(), at="before-sink-commit").inject(context, "kill-1")


# Killed during a state commit.


class KilledDriver:
    """A driver killed in micro-batch 4 of 30 records, when one of two state partitions had it."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint = Checkpoint(folder / "checkpoint")
        self.checkpoint.create()
        for batch, end in ((3, 0), (4, 30)):
            plan(self.checkpoint, batch, entry({"payments": {"0": end}}))
        save(self.checkpoint, 4, "0")
        save(self.checkpoint, 3, "1")
        self.runs_again = lambda: save(self.checkpoint, 4, "1")
        self.recorder = FakeRecorder()
        self.pipeline = FakeDriver(
            checkpoint=self.checkpoint,
            crash_point_trigger=lambda window, sink, how: FakeTrigger(
                hit=StruckProcess(
                    number=4, process=FakeProcess("driver#1"), processes=5, misses=2, at=7
                )
            ),
            wait_batch=lambda batch, seconds: self.runs_again(),
        )

    def inject(
        self, window: str, subject: FakeSubject | None = None, sink: FakeSink | None = None
    ) -> Injection:
        """Injects the kill; by default the sink has nothing of the batch."""
        context = FakeContext(
            subject=subject or FakeSubject(name="spark-balances", balances=True),
            pipeline=self.pipeline,
            recorder=self.recorder,
            logs=FakeReader([records(30)]),
            sink=sink or FakeSink(),
        )
        return Kill(SparkDriver(), at=window).inject(context, "killed")

    def commit_again(self) -> None:
        version = self.checkpoint.folder / "state" / "0" / "0" / "5.zip"
        at = version.stat().st_mtime_ns
        while version.stat().st_mtime_ns == at:  # until the file system's clock advances
            save(self.checkpoint, 4, "0")
        save(self.checkpoint, 4, "1")


@pytest.fixture
def killed(tmp_path: Path) -> KilledDriver:
    return KilledDriver(tmp_path)


def sink_with(count: int) -> FakeSink:
    """A sink with the effects of this many records of the batch."""
    return FakeSink(there=[effect(f"r{n}") for n in range(count)])


SUMS = FakeSubject(sinks=())


def test_state_commit_is_proved_by_the_partitions_that_have_it(killed: KilledDriver) -> None:
    injection = killed.inject("during-state-commit")
    assert injection.evidence() == (
        "driver#1 and all its 5 processes ended by signal 9; 1 of 2 state partitions had version "
        "5, that of micro-batch 4 with its 30 records, and the batch had no commit, after 2 "
        "missed attempts"
    )
    killed.runs_again = killed.commit_again
    injection.heal()
    (hazard,) = killed.recorder.hazards
    assert hazard.hazard == "half-committed-state"
    assert hazard.batch == 4
    assert hazard.detail == (
        "micro-batch 4 ran again after 1 of 2 state partitions had been committed as version 5; "
        "1 of these were committed again"
    )


def test_state_that_is_not_committed_again_is_no_hazard(killed: KilledDriver) -> None:
    injection = killed.inject("during-state-commit")
    assert injection.evidence()
    injection.heal()
    assert killed.checkpoint.state_of(4).progress == (2, 2)
    assert killed.recorder.hazards == []


def test_no_evidence_if_all_partitions_have_the_state(killed: KilledDriver) -> None:
    injection = killed.inject("during-state-commit")
    save(killed.checkpoint, 4, "1")
    assert injection.evidence() is None


def test_no_evidence_if_no_partition_has_the_state(killed: KilledDriver) -> None:
    (killed.checkpoint.folder / "state" / "0" / "0" / "5.zip").unlink()
    injection = killed.inject("during-state-commit")
    assert injection.evidence() is None


@pytest.mark.parametrize("window", ["after-offset-log", "after-sink-write", "after-commit"])
def test_balances_support_only_during_state_commit(killed: KilledDriver, window: str) -> None:
    with pytest.raises(StageTrouble, match="cannot be proved; use during-state-commit"):
        killed.inject(window)


# Killed around the write of the sink.


@pytest.mark.parametrize(
    ("subject", "sink", "proof", "hazard"),
    [
        (
            FakeSubject(),
            sink_with(30),
            "the sink had 30 of the 30 records of micro-batch 4",
            "micro-batch 4 ran again after 30 of its 30 effects were visible in the sink",
        ),
        (
            SUMS,
            FakeSinkOfSums(shown=frozenset({4})),
            "the sink had rows of micro-batch 4 with its 30 records",
            "micro-batch 4 ran again after its rows were visible in the sink",
        ),
    ],
)
def test_write_is_proved_by_what_the_sink_has(
    killed: KilledDriver, subject: FakeSubject, sink: FakeSink, proof: str, hazard: str
) -> None:
    injection = killed.inject("after-sink-write", subject, sink)
    assert injection.evidence() == (
        f"driver#1 and all its 5 processes ended by signal 9; {proof}, and the batch had no "
        "commit, after 2 missed attempts"
    )
    injection.heal()
    assert killed.recorder.seen == [("replayed-batch", hazard)]


@pytest.mark.parametrize(
    ("window", "hazard"),
    [
        ("during-sink-write", "interrupted-write"),
        ("before-sink-commit", "interrupted-write"),
        ("after-sink-write", "replayed-batch"),
    ],
)
def test_hazard_of_a_sink_with_a_log_depends_on_the_window(
    killed: KilledDriver, window: str, hazard: str
) -> None:
    killed.pipeline.sink_log = killed.checkpoint.folder
    injection = killed.inject(window, FakeSubject(sinks=("files",)), sink_with(20))
    assert injection.evidence()
    injection.heal()
    assert [found.hazard for found in killed.recorder.hazards] == [hazard]


def test_no_evidence_if_the_batch_was_committed(killed: KilledDriver) -> None:
    injection = killed.inject("after-sink-write", FakeSubject(), sink_with(30))
    (killed.checkpoint.folder / "commits" / "4").write_text("v1\n{}")
    assert injection.evidence() is None
    injection.heal()
    assert killed.recorder.hazards == [], "it never ran again"


def test_evidence_names_a_sink_of_sums_without_rows(killed: KilledDriver) -> None:
    injection = killed.inject("after-offset-log", SUMS, FakeSinkOfSums())
    assert "the sink had no rows of micro-batch 4 with its 30 records" in str(injection.evidence())
