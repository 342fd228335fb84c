"""Crash points of a Spark driver, with a real process and folder and a fake sink.

The driver keeps printing a counter, which shows whether it is running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.spark.checkpoint import Checkpoint, CheckpointWatch
from onceproof.harness.subjects.spark.crash_point_trigger import SparkCrashPointTrigger
from onceproof.harness.subjects.spark.crash_points import (
    AFTER_COMMIT,
    AFTER_OFFSET_LOG,
    AFTER_SINK_WRITE,
    BEFORE_SINK_COMMIT,
    DURING_SINK_WRITE,
    DURING_STATE_COMMIT,
    WINDOWS,
    Window,
)
from onceproof.harness.wait import wait_until
from tests.unit.harness.subjects.spark.made_up_checkpoint import as_spark_does, entry, save

COUNTING = """
import time
n = 0
while True:
    n += 1
    print("ready", n, flush=True)
    time.sleep(0.005)
"""
PLANNED = 10


class MadeUpSink:
    """A sink that has `present[batch]` of a batch's records."""

    def __init__(self) -> None:
        self.present: dict[int, int] = {}
        self.queried: list[int] = []
        self.error: Exception | None = None
        self.sized = 0

    def size(self) -> int:
        self.sized += 1
        return sum(self.present.values())

    def of(self, batch: int) -> tuple[int, int]:
        self.queried.append(batch)
        if self.error is not None:
            raise self.error
        return self.present.get(batch, 0), PLANNED


class Scene:
    """A driver, its checkpoint and its sink."""

    def __init__(self, folder: Path, driver: Process) -> None:
        self.checkpoint = Checkpoint(folder / "checkpoint")
        self.checkpoint.create()
        self.driver = driver
        self.sink = MadeUpSink()
        self.planned: list[int] = []
        self.sink_log = folder / "files" / "_spark_metadata"
        self.sink_log.mkdir(parents=True)
        self.watch = CheckpointWatch(
            self.checkpoint,
            on_planned=self.planned.append,
            on_committed=lambda n: None,
            sink_log=self.sink_log,
        )

    def crash_point_trigger(self, window: Window) -> SparkCrashPointTrigger:
        return SparkCrashPointTrigger(
            window,
            watch=self.watch,
            driver=lambda: self.driver,
            sink=self.sink,
            strike=lambda process: process.kill("a test"),
        )

    def plan(self, batch: int, *, end: int | None = None) -> None:
        """Plan a batch of ten records, or one that ends at `end`."""
        end_offset = (batch + 1) * PLANNED if end is None else end
        # Renamed into place, as Spark does, so that the file is complete when it is seen.
        text = entry({"payments": {"0": end_offset}})
        as_spark_does(self.checkpoint.folder / "offsets", batch, text)()

    def begin_commit(self, batch: int) -> Callable[[], None]:
        return as_spark_does(self.checkpoint.folder / "commits", batch)

    def open_stores(self, *stores: str) -> None:
        """Create empty state stores."""
        for store in stores:
            (self.checkpoint.folder / "state" / "0" / store).mkdir(parents=True)

    def wait_for_plan(self, batch: int) -> None:
        """Wait until the plan is reported, and so everything before it."""
        wait_until(lambda: batch in self.planned, what="the plan to be told", seconds=20)

    def wait_for_progress(self) -> None:
        """Wait until the driver prints something new."""
        before = self.driver.tail(1)
        wait_until(
            lambda: self.driver.tail(1) != before, what="the driver to go on", seconds=20,
            seen=lambda: self.driver.tail(1),
        )  # fmt: skip

    def wait_for_size_checks(self) -> None:
        before = self.sink.sized
        wait_until(
            lambda: self.sink.sized >= before + 2, what="two looks at the size", seconds=20,
        )  # fmt: skip

    def wait_for_queries(self, times: int) -> None:
        wait_until(
            lambda: len(self.sink.queried) >= times, what=f"{times} looks", seconds=20,
            seen=lambda: self.sink.queried,
        )  # fmt: skip


@pytest.fixture
def scene(tmp_path: Path, start: Callable[..., Process]) -> Iterator[Scene]:
    made = Scene(tmp_path, start(COUNTING, "driver"))
    yield made
    made.watch.close()
    assert made.watch.error is None


def hit(trigger: SparkCrashPointTrigger) -> tuple[int, int]:
    """Wait for the hit; return (batch, misses)."""
    found = wait_until(
        lambda: trigger.hit, what="the hit", seconds=20, seen=lambda: str(trigger.error)
    )
    return found.number, found.misses


def test_after_offset_log_strikes_before_the_sink_has_records(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(AFTER_OFFSET_LOG)
    scene.sink.present[0] = 1
    scene.plan(0)
    scene.wait_for_queries(1)
    scene.wait_for_progress()
    scene.plan(1)
    assert hit(trigger) == (1, 1)
    assert not scene.driver.alive()
    assert scene.driver.how == "a test"


def test_during_sink_write_strikes_at_a_partial_batch(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(DURING_SINK_WRITE)
    scene.plan(0)
    scene.wait_for_size_checks()
    scene.sink.present[0] = PLANNED
    scene.wait_for_queries(1)
    scene.wait_for_progress()
    scene.begin_commit(0)()
    scene.plan(1)
    scene.wait_for_size_checks()
    scene.sink.present[1] = 4
    assert hit(trigger)[0] == 1
    assert not scene.driver.alive()


def test_during_sink_write_ignores_records_of_earlier_batches(scene: Scene) -> None:
    scene.plan(0)
    scene.begin_commit(0)()
    scene.sink.present[0] = PLANNED
    trigger = scene.crash_point_trigger(DURING_SINK_WRITE)
    scene.plan(1)
    scene.wait_for_size_checks()
    assert scene.sink.queried == []
    scene.sink.present[1] = 1
    assert hit(trigger) == (1, 0)


def test_during_state_commit_strikes_at_partial_state(scene: Scene) -> None:
    scene.open_stores("0")
    trigger = scene.crash_point_trigger(DURING_STATE_COMMIT)
    scene.plan(0)
    scene.wait_for_plan(0)
    save(scene.checkpoint, 0, "0")  # the only partition, so the state is complete
    scene.plan(1)
    scene.wait_for_plan(1)
    scene.wait_for_progress()
    scene.open_stores("1")
    scene.plan(2)
    scene.wait_for_plan(2)  # the new folder is watched by now
    save(scene.checkpoint, 1, "1")
    assert hit(trigger) == (1, 1)
    assert not scene.driver.alive()
    assert scene.checkpoint.state_of(1).progress == (1, 2)


def test_during_state_commit_ignores_committed_batches(scene: Scene) -> None:
    scene.open_stores("0", "1")
    scene.plan(0)
    scene.wait_for_plan(0)
    scene.begin_commit(0)()
    trigger = scene.crash_point_trigger(DURING_STATE_COMMIT)
    save(scene.checkpoint, 0, "0")  # like a snapshot that is written later
    scene.plan(1)
    scene.wait_for_plan(1)
    scene.wait_for_progress()
    save(scene.checkpoint, 1, "0")
    assert hit(trigger) == (1, 1)


def test_after_sink_write_strikes_before_the_commit(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(AFTER_SINK_WRITE)
    scene.plan(0)
    scene.sink.present[0] = PLANNED
    rename = scene.begin_commit(0)
    assert hit(trigger) == (0, 0)
    rename()
    assert not scene.driver.alive()


def test_before_sink_commit_strikes_before_the_sink_log_entry(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(BEFORE_SINK_COMMIT)
    scene.plan(0)
    as_spark_does(scene.sink_log, 0)()  # a miss: the sink has no records of it
    scene.wait_for_queries(1)
    scene.wait_for_progress()
    scene.plan(1)
    scene.sink.present[1] = PLANNED
    as_spark_does(scene.sink_log, 1)
    assert hit(trigger) == (1, 1)
    assert not scene.driver.alive()


def test_after_commit_strikes_before_the_next_plan(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(AFTER_COMMIT)
    scene.plan(0)
    scene.plan(1)
    scene.sink.present[0] = scene.sink.present[1] = PLANNED
    scene.begin_commit(0)()  # too late: the next batch is planned already
    scene.wait_for_progress()
    assert trigger.hit is None
    scene.begin_commit(1)()
    assert hit(trigger)[0] == 1


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_batch_without_records_is_ignored(scene: Scene, window: Window) -> None:
    scene.crash_point_trigger(window)
    scene.plan(0, end=0)
    scene.begin_commit(0)()
    scene.wait_for_progress()
    assert scene.sink.queried == []


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_ended_trigger_does_not_strike(scene: Scene, window: Window) -> None:
    trigger = scene.crash_point_trigger(window)
    trigger.end()
    scene.sink.present[0] = 1
    scene.plan(0)
    scene.begin_commit(0)()
    scene.wait_for_progress()
    assert trigger.hit is None


def test_sink_error_is_kept_and_the_driver_resumes(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(AFTER_OFFSET_LOG)
    scene.sink.error = OSError("no way in")
    scene.plan(0)
    error = wait_until(lambda: trigger.error, what="the error", seconds=20)
    assert str(error) == "no way in"
    scene.wait_for_progress()
    assert trigger.hit is None
