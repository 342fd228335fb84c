"""Crash points of a driver: a real process and folder, and a sink that says what it is told.

A driver here counts aloud, so that it is seen whether it goes on.
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
    """Has as many of a batch's records as the test says."""

    def __init__(self) -> None:
        self.present: dict[int, int] = {}
        self.asked: list[int] = []
        self.error: Exception | None = None
        self.sized = 0

    def size(self) -> int:
        self.sized += 1
        return sum(self.present.values())

    def of(self, batch: int) -> tuple[int, int]:
        self.asked.append(batch)
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
        self.told: list[int] = []
        self.sink_log = folder / "files" / "_spark_metadata"
        self.sink_log.mkdir(parents=True)
        self.watch = CheckpointWatch(
            self.checkpoint,
            on_planned=self.told.append,
            on_committed=lambda n: None,
            sink_log=self.sink_log,
        )

    def crash_point_trigger(self, window: Window) -> SparkCrashPointTrigger:
        return SparkCrashPointTrigger(
            window, watch=self.watch, driver=lambda: self.driver, sink=self.sink, how="a test"
        )

    def plan(self, batch: int, *, end: int | None = None) -> None:
        """A batch of ten records, or one that ends at `end`."""
        where = (batch + 1) * PLANNED if end is None else end
        # By renaming, as Spark does it: the file is whole when it is seen.
        text = entry({"payments": {"0": where}})
        as_spark_does(self.checkpoint.folder / "offsets", batch, text)()

    def begin_commit(self, batch: int) -> Callable[[], None]:
        return as_spark_does(self.checkpoint.folder / "commits", batch)

    def open_stores(self, *stores: str) -> None:
        """Partitions of the state that have nothing yet."""
        for store in stores:
            (self.checkpoint.folder / "state" / "0" / store).mkdir(parents=True)

    def was_told_of_plan(self, batch: int) -> None:
        """And so of everything before it."""
        wait_until(lambda: batch in self.told, what="the plan to be told", seconds=20)

    def goes_on(self) -> None:
        """See that the driver counts on."""
        said = self.driver.tail(1)
        wait_until(
            lambda: self.driver.tail(1) != said, what="the driver to go on", seconds=20,
            seen=lambda: self.driver.tail(1),
        )  # fmt: skip

    def growth_is_awaited(self) -> None:
        before = self.sink.sized
        wait_until(
            lambda: self.sink.sized >= before + 2, what="two looks at the size", seconds=20,
        )  # fmt: skip

    def looked(self, times: int) -> None:
        wait_until(
            lambda: len(self.sink.asked) >= times, what=f"{times} looks", seconds=20,
            seen=lambda: self.sink.asked,
        )  # fmt: skip


@pytest.fixture
def scene(tmp_path: Path, start: Callable[..., Process]) -> Iterator[Scene]:
    made = Scene(tmp_path, start(COUNTING, "driver"))
    yield made
    made.watch.close()
    assert made.watch.error is None


def hit(trigger: SparkCrashPointTrigger) -> tuple[int, int]:
    """(batch, misses) once it has hit."""
    found = wait_until(
        lambda: trigger.hit, what="the hit", seconds=20, seen=lambda: str(trigger.error)
    )
    return found.number, found.misses


def test_a_batch_that_is_planned_and_not_begun(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(AFTER_OFFSET_LOG)
    scene.sink.present[0] = 1
    scene.plan(0)
    scene.looked(1)
    scene.goes_on()
    scene.plan(1)
    assert hit(trigger) == (1, 1)
    assert not scene.driver.alive()
    assert scene.driver.how == "a test"


def test_a_batch_that_the_sink_has_in_part(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(DURING_SINK_WRITE)
    scene.plan(0)
    scene.growth_is_awaited()
    scene.sink.present[0] = PLANNED
    scene.looked(1)
    scene.goes_on()
    scene.begin_commit(0)()
    scene.plan(1)
    scene.growth_is_awaited()
    scene.sink.present[1] = 4
    assert hit(trigger)[0] == 1
    assert not scene.driver.alive()


def test_what_was_there_before_the_batch_is_no_part_of_it(scene: Scene) -> None:
    scene.plan(0)
    scene.begin_commit(0)()
    scene.sink.present[0] = PLANNED
    trigger = scene.crash_point_trigger(DURING_SINK_WRITE)
    scene.plan(1)
    scene.growth_is_awaited()
    assert scene.sink.asked == []
    scene.sink.present[1] = 1
    assert hit(trigger) == (1, 0)


def test_a_batch_that_a_part_of_the_state_has(scene: Scene) -> None:
    scene.open_stores("0")
    trigger = scene.crash_point_trigger(DURING_STATE_COMMIT)
    scene.plan(0)
    scene.was_told_of_plan(0)
    save(scene.checkpoint, 0, "0")  # the only partition that there is: all have the batch
    scene.plan(1)
    scene.was_told_of_plan(1)
    scene.goes_on()
    scene.open_stores("1")
    scene.plan(2)
    scene.was_told_of_plan(2)  # the folder as well
    save(scene.checkpoint, 1, "1")
    assert hit(trigger) == (1, 1)
    assert not scene.driver.alive()
    assert scene.checkpoint.state_of(1).progress == (1, 2)


def test_state_of_a_batch_that_is_committed_is_let_be(scene: Scene) -> None:
    scene.open_stores("0", "1")
    scene.plan(0)
    scene.was_told_of_plan(0)
    scene.begin_commit(0)()
    trigger = scene.crash_point_trigger(DURING_STATE_COMMIT)
    save(scene.checkpoint, 0, "0")  # as a snapshot that is written later
    scene.plan(1)
    scene.was_told_of_plan(1)
    scene.goes_on()
    save(scene.checkpoint, 1, "0")
    assert hit(trigger) == (1, 1)


def test_a_batch_that_is_in_the_sink_and_not_committed(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(AFTER_SINK_WRITE)
    scene.plan(0)
    scene.sink.present[0] = PLANNED
    rename = scene.begin_commit(0)
    assert hit(trigger) == (0, 0)
    rename()
    assert not scene.driver.alive()


def test_a_batch_that_is_written_and_not_in_the_sinks_own_log(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(BEFORE_SINK_COMMIT)
    scene.plan(0)
    as_spark_does(scene.sink_log, 0)()  # nothing of it is there, so that is not it
    scene.looked(1)
    scene.goes_on()
    scene.plan(1)
    scene.sink.present[1] = PLANNED
    as_spark_does(scene.sink_log, 1)
    assert hit(trigger) == (1, 1)
    assert not scene.driver.alive()


def test_a_batch_that_is_committed(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(AFTER_COMMIT)
    scene.plan(0)
    scene.plan(1)
    scene.sink.present[0] = scene.sink.present[1] = PLANNED
    scene.begin_commit(0)()  # too late: the next one is planned already
    scene.goes_on()
    assert trigger.hit is None
    scene.begin_commit(1)()
    assert hit(trigger)[0] == 1


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_a_batch_without_records_is_let_be(scene: Scene, window: Window) -> None:
    scene.crash_point_trigger(window)
    scene.plan(0, end=0)
    scene.begin_commit(0)()
    scene.goes_on()
    assert scene.sink.asked == []


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_what_has_ended_does_not_strike(scene: Scene, window: Window) -> None:
    trigger = scene.crash_point_trigger(window)
    trigger.end()
    scene.sink.present[0] = 1
    scene.plan(0)
    scene.begin_commit(0)()
    scene.goes_on()
    assert trigger.hit is None


def test_a_sink_that_cannot_be_looked_at(scene: Scene) -> None:
    trigger = scene.crash_point_trigger(AFTER_OFFSET_LOG)
    scene.sink.error = OSError("no way in")
    scene.plan(0)
    error = wait_until(lambda: trigger.error, what="the error", seconds=20)
    assert str(error) == "no way in"
    scene.goes_on()
    assert trigger.hit is None
