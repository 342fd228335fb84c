"""Faults of the Spark driver on a context that is made up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets import spark_driver_window
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.crash_point_trigger import Hit
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.wait import Stop
from tests.unit.harness.faults.targets.made_up_driver import AnyDriver
from tests.unit.harness.subjects.spark.made_up_checkpoint import save


class Driver:
    """A life of the driver that is made up."""

    instance = "driver#1"

    def __init__(self) -> None:
        self.stands_still = False

    def members(self) -> int:
        return 4

    def frozen(self) -> bool:
        return self.stands_still

    def thaw(self) -> None:
        self.stands_still = False


class Pipeline(AnyDriver):
    last_committed = 3


def context() -> Any:
    driver = Driver()

    def pause() -> Driver:
        driver.stands_still = True
        return driver

    return SimpleNamespace(
        pipeline=Pipeline(process=driver, pause=pause, check=lambda: None),
        producers=SimpleNamespace(acknowledged=100),
        stage=SimpleNamespace(brokers=("broker-1",), connections=lambda link: 1),
        stop=Stop(),
    )


def test_a_pause_is_proved_by_what_was_missed() -> None:
    world = context()
    injection = Pause(SparkDriver()).inject(world, "pause-1")
    assert injection.evidence() is None
    world.producers.acknowledged = 150
    assert injection.evidence() == (
        "all 4 processes of driver#1 stand still; meanwhile 50 records were acknowledged and no "
        "micro-batch was committed"
    )
    world.pipeline.last_committed = 4
    assert injection.evidence() is None, "somebody committed"
    injection.heal()
    assert not world.pipeline.process.stands_still


def test_a_sink_without_a_log_of_its_own_cannot_be_killed_before_its_entry() -> None:
    world = context()
    world.subject = SimpleNamespace(name="spark-kafka-sink", balances=False)
    world.pipeline.sink_log = None
    with pytest.raises(StageTrouble, match="spark-kafka-sink keeps no log in its sink"):
        Kill(SparkDriver(), at="before-sink-commit").inject(world, "kill-1")


# Killed amid a commit of the state.


class Killed:
    """A context whose driver was killed in micro-batch 4, when one partition of two had it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.checkpoint = Checkpoint(folder / "checkpoint")
        self.checkpoint.create()
        save(self.checkpoint, 4, "0")
        save(self.checkpoint, 3, "1")
        self.hazards: list[dict[str, Any]] = []
        life: Any = SimpleNamespace(instance="driver#1")
        hit = Hit(number=4, process=life, processes=5, misses=2, at=7)
        trigger = SimpleNamespace(error=None, hit=hit, end=lambda: None)
        self.context: Any = SimpleNamespace(
            subject=SimpleNamespace(name="spark-balances", balances=True),
            pipeline=AnyDriver(
                checkpoint=self.checkpoint,
                sink_log=None,
                crash_point_trigger=lambda window, sink, how: trigger,
                alive=lambda: True,
                wait_batch=lambda batch, seconds: self.runs_again(),
            ),
            recorder=SimpleNamespace(hazard=self._hazard),
        )
        self.runs_again = lambda: save(self.checkpoint, 4, "1")
        sink = SimpleNamespace(of=lambda batch: (0, 30))
        monkeypatch.setattr(spark_driver_window, "SinkOfBatches", lambda context: sink)

    def _hazard(self, kind: str, **more: Any) -> None:
        self.hazards.append({"kind": kind} | more)

    def commit_anew(self) -> None:
        version = self.checkpoint.folder / "state" / "0" / "0" / "5.zip"
        at = version.stat().st_mtime_ns
        while version.stat().st_mtime_ns == at:  # as fine as the file system's clock is
            save(self.checkpoint, 4, "0")
        save(self.checkpoint, 4, "1")


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Killed:
    return Killed(tmp_path, monkeypatch)


def test_a_state_commit_is_proved_by_what_each_partition_has(killed: Killed) -> None:
    injection = Kill(SparkDriver(), at="during-state-commit").inject(killed.context, "killed")
    assert injection.evidence() == (
        "driver#1 and all its 5 processes ended by signal 9; of the 2 partitions of the state 1 "
        "had version 5, which micro-batch 4 with its 30 records makes, and the batch had no "
        "commit, after 2 misses that were let go"
    )
    killed.runs_again = killed.commit_anew
    injection.heal()
    (hazard,) = killed.hazards
    assert hazard["kind"] == "half-committed-state"
    assert hazard["batch"] == 4
    assert hazard["detail"] == (
        "micro-batch 4 ran again after 1 of 2 partitions of the state had been committed as "
        "version 5; 1 of these were committed anew"
    )


def test_state_that_was_not_committed_anew_is_no_hazard(killed: Killed) -> None:
    injection = Kill(SparkDriver(), at="during-state-commit").inject(killed.context, "killed")
    assert injection.evidence()
    injection.heal()
    assert killed.checkpoint.state_of(4).progress == (2, 2)
    assert killed.hazards == []


def test_state_that_is_whole_after_the_kill_proves_nothing(killed: Killed) -> None:
    injection = Kill(SparkDriver(), at="during-state-commit").inject(killed.context, "killed")
    save(killed.checkpoint, 4, "1")
    assert injection.evidence() is None


def test_state_that_has_nothing_of_the_batch_proves_nothing(killed: Killed) -> None:
    (killed.checkpoint.folder / "state" / "0" / "0" / "5.zip").unlink()
    injection = Kill(SparkDriver(), at="during-state-commit").inject(killed.context, "killed")
    assert injection.evidence() is None


@pytest.mark.parametrize("window", ["after-offset-log", "after-sink-write", "after-commit"])
def test_balances_do_not_tell_how_much_of_a_batch_is_there(killed: Killed, window: str) -> None:
    with pytest.raises(StageTrouble, match="only during-state-commit can be proved there"):
        Kill(SparkDriver(), at=window).inject(killed.context, "killed")


# Killed when the sink has the batch.


@pytest.mark.parametrize(
    ("sinks", "proof", "hazard"),
    [
        (
            ("ledger",),
            "of the 30 records of micro-batch 4 the sink had 30",
            "micro-batch 4 ran again after 30 of its 30 effects were visible in the sink",
        ),
        (
            (),
            "the sink had rows of micro-batch 4 with its 30 records",
            "micro-batch 4 ran again after its rows were visible in the sink",
        ),
    ],
)
def test_a_write_is_proved_by_what_the_sink_has(
    killed: Killed,
    monkeypatch: pytest.MonkeyPatch,
    sinks: tuple[str, ...],
    proof: str,
    hazard: str,
) -> None:
    killed.context.subject = SimpleNamespace(name="any", balances=False, sinks=sinks)
    sink = SimpleNamespace(of=lambda batch: (30, 30))
    monkeypatch.setattr(spark_driver_window, "SinkOfBatches", lambda context: sink)
    injection = Kill(SparkDriver(), at="after-sink-write").inject(killed.context, "killed")
    assert injection.evidence() == (
        f"driver#1 and all its 5 processes ended by signal 9; {proof}, and the batch had no "
        "commit, after 2 misses that were let go"
    )
    injection.heal()
    (found,) = killed.hazards
    assert (found["kind"], found["detail"]) == ("replayed-batch", hazard)


@pytest.mark.parametrize(
    ("window", "hazard"),
    [
        ("during-sink-write", "interrupted-write"),
        ("before-sink-commit", "interrupted-write"),
        ("after-sink-write", "replayed-batch"),
    ],
)
def test_what_a_sinks_own_log_has_not_is_not_replayed_to_its_reader(
    killed: Killed, monkeypatch: pytest.MonkeyPatch, window: str, hazard: str
) -> None:
    killed.context.subject = SimpleNamespace(name="any", balances=False, sinks=("files",))
    killed.context.pipeline.sink_log = killed.checkpoint.folder
    sink = SimpleNamespace(of=lambda batch: (20, 30))
    monkeypatch.setattr(spark_driver_window, "SinkOfBatches", lambda context: sink)
    injection = Kill(SparkDriver(), at=window).inject(killed.context, "killed")
    assert injection.evidence()
    injection.heal()
    assert [found["kind"] for found in killed.hazards] == [hazard]


def test_a_batch_that_was_committed_after_all_proves_nothing(
    killed: Killed, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed.context.subject = SimpleNamespace(name="any", balances=False, sinks=("ledger",))
    sink = SimpleNamespace(of=lambda batch: (30, 30))
    monkeypatch.setattr(spark_driver_window, "SinkOfBatches", lambda context: sink)
    injection = Kill(SparkDriver(), at="after-sink-write").inject(killed.context, "killed")
    (killed.checkpoint.folder / "commits" / "4").write_text("v1\n{}")
    assert injection.evidence() is None
    injection.heal()
    assert killed.hazards == [], "it never ran again"


def test_a_sink_of_sums_without_a_row_of_the_batch(
    killed: Killed, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed.context.subject = SimpleNamespace(name="any", balances=False, sinks=())
    sink = SimpleNamespace(of=lambda batch: (0, 30))
    monkeypatch.setattr(spark_driver_window, "SinkOfBatches", lambda context: sink)
    injection = Kill(SparkDriver(), at="after-offset-log").inject(killed.context, "killed")
    assert "the sink had no row of micro-batch 4 with its 30 records" in str(injection.evidence())
