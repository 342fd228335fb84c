"""Lives of a Flink job: where each starts, what is noted of it, and its crash points.

The job is a program that counts aloud, and its checkpoints are made by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble, WatchTrouble
from onceproof.harness.history.tables import read_lines
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.processes.processes import Processes
from onceproof.harness.subjects import supervisor
from onceproof.harness.subjects.crash_point_trigger import Hit
from onceproof.harness.subjects.flink.checkpoints import METADATA
from onceproof.harness.subjects.flink.crash_point_trigger import FlinkCrashPointTrigger, open_of
from onceproof.harness.subjects.flink.crash_points import (
    CHECKPOINT_BEGUN,
    CHECKPOINT_COMPLETE,
    CHECKPOINT_FLUSHED,
    WINDOWS,
    Window,
)
from onceproof.harness.wait import Stop, wait_until
from tests.unit.harness.subjects.flink.made_up_job import ENDING, MadeUpJob

Making = Callable[..., MadeUpJob]


@dataclass(frozen=True)
class Kept:
    """Positions of a group."""

    commits: list[Commit]

    def look(self) -> list[Commit]:
        return self.commits


@pytest.fixture
def make(tmp_path: Path, processes: Processes) -> Iterator[Making]:
    made: list[MadeUpJob] = []

    def job(**given: Any) -> MadeUpJob:
        made.append(MadeUpJob(tmp_path, processes, **given))
        made[-1].start()
        return made[-1]

    yield job
    for one in made:
        one.close()


# Where a life starts, and what is noted.


def test_a_life_starts_from_the_newest_complete_checkpoint(make: Making) -> None:
    job = make()
    job.checkpoint(1).complete({0: 10, 1: 7})
    job.checkpoint(2).flush({0: 20, 1: 9})
    job.completed(1)
    assert job.flows()
    assert job.positions() == {("payments", 0): 10, ("payments", 1): 7}
    job.kill("a test")
    assert not job.alive()
    job.start()
    first, second = job.started
    assert "execution.state-recovery.path" not in first
    assert second["execution.state-recovery.path"].endswith("/life-1/f00/chk-1")
    assert second["execution.checkpointing.dir"].endswith("/life-2")
    assert job.newest() is None


def test_a_life_that_completed_none_leaves_its_beginning_to_the_next(make: Making) -> None:
    job = make()
    job.checkpoint(4).complete({0: 10})
    for _ in range(2):
        job.kill("a test")
        job.start()
    paths = [own.get("execution.state-recovery.path", "") for own in job.started]
    assert paths[1] == paths[2]
    assert paths[2].endswith("/life-1/f00/chk-4")


def test_records_flow_when_another_life_would_start_behind_some(make: Making) -> None:
    kept: list[Commit] = []
    job = make(restored=False, kept=Kept(kept))
    job.checkpoint(1).complete({0: 10})
    job.completed(1)
    assert job.positions() == {("payments", 0): 10}
    assert not job.flows(), "a life that starts where its group was would miss nothing"
    kept.append(Commit(topic="payments", partition=0, offset=10, transactional=False))
    assert job.flows()


def test_the_twin_starts_without_it(make: Making) -> None:
    job = make(restored=False, start=0)
    job.checkpoint(1).complete({0: 10})
    job.completed(1)
    job.kill("a test")
    job.start()
    assert [set(own) for own in job.started] == [{"execution.checkpointing.dir"}] * 2
    assert job.positions() is None
    assert job.commits == 1
    rows = read_lines(job.history).lines["positions"]
    assert [(r["offset"], r["batch"]) for r in rows] == [(10, 1), (0, None)]


def test_where_a_group_makes_it_start_is_not_known_beforehand(make: Making) -> None:
    job = make(restored=False)
    job.checkpoint(1).complete({0: 10})
    job.completed(1)
    job.kill("a test")
    job.start()
    assert job.positions() is None
    assert len(read_lines(job.history).lines["positions"]) == 1


def test_positions_are_written_as_they_come(make: Making) -> None:
    job = make()
    job.checkpoint(1).complete({0: 10})
    job.completed(1)
    job.checkpoint(2).complete({0: 30, 1: 1})
    job.completed(2)
    assert job.commits == 2
    rows = read_lines(job.history).lines["positions"]
    assert [(r["owner"], r["role"], r["partition"], r["offset"], r["batch"]) for r in rows] == [
        ("billing", "resume", 0, 10, 1),
        ("billing", "resume", 0, 30, 2),
        ("billing", "resume", 1, 1, 2),
    ]


def test_what_a_zombie_completes_is_nobodys(make: Making) -> None:
    job = make()
    job.checkpoint(1).complete({0: 10})
    job.completed(1)
    late = job.checkpoint(2)
    job.succeed()
    late.complete({0: 99})
    job.checkpoint(2).complete({0: 20})
    job.completed(2)
    assert job.positions() == {("payments", 0): 20}
    assert [r["offset"] for r in read_lines(job.history).lines["positions"]] == [10, 20]
    job.kill("a test")
    job.start()
    assert job.started[-1]["execution.state-recovery.path"].endswith("/life-2/f00/chk-2")


def test_one_that_ends_by_itself_is_started_again_but_not_for_ever(
    make: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "LIVES", 2)
    job = make(program=ENDING)

    def troubled() -> str | None:
        try:
            job.check()
        except PipelineTrouble as trouble:
            return str(trouble)
        return None

    said = wait_until(troubled, what="the job to be given up", seconds=20)
    assert "ended by itself 3 times" in said
    assert "no more" in said
    assert len(job.started) == 3


def test_a_checkpoint_that_cannot_be_read_is_told(make: Making) -> None:
    job = make()
    checkpoint = job.checkpoint(1)
    (checkpoint.folder / METADATA).mkdir()

    def troubled() -> str | None:
        try:
            job.check()
        except WatchTrouble as trouble:
            return str(trouble)
        return None

    said = wait_until(troubled, what="the trouble", seconds=20)
    assert "failed: UnreadableCheckpoint: " in said
    assert "chk-1" in said


# Crash points.


class Coordinators:
    """Say what the test says."""

    def __init__(self, *told: Mapping[str, str]) -> None:
        self.told = list(told)
        self.asked = 0

    def __call__(self) -> Mapping[str, str]:
        self.asked += 1
        return self.told.pop(0) if len(self.told) > 1 else self.told[0]


def armed_trigger(job: MadeUpJob, window: Window, told: Coordinators) -> FlinkCrashPointTrigger:
    def strike() -> None:
        job.kill("a test")

    return FlinkCrashPointTrigger(window, job=job, look=told, strike=strike, stop=Stop())


def hit(trigger: FlinkCrashPointTrigger) -> Hit:
    return wait_until(lambda: trigger.hit, what="the hit", seconds=20, seen=lambda: trigger.error)


OPEN = {"billing-0-1": "Ongoing", "billing-1-1": "Ongoing", "billing-0-2": "Ongoing"}


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_each_window_is_hit_at_its_sign(make: Making, window: Window) -> None:
    job = make()
    trigger = armed_trigger(job, window, Coordinators(OPEN))
    checkpoint = job.checkpoint(1)
    if window is not CHECKPOINT_BEGUN:
        job.goes_on()
        checkpoint.flush({0: 3})
    if window is CHECKPOINT_COMPLETE:
        job.goes_on()
        checkpoint.complete()
    found = hit(trigger)
    assert (found.number, found.open) == (1, ("billing-0-1", "billing-1-1"))
    assert not job.alive()
    assert found.process.how == "a test"


def test_a_transaction_that_has_ended_is_a_miss(make: Making) -> None:
    job = make()
    told = Coordinators({**OPEN, "billing-1-1": "CompleteCommit"})
    trigger = armed_trigger(job, CHECKPOINT_COMPLETE, told)
    job.checkpoint(1).complete({0: 3})
    job.completed(1)
    job.goes_on()
    assert trigger.hit is None
    told.told = [{"billing-0-2": "Ongoing", "billing-1-2": "Empty"}]
    job.checkpoint(2).complete({0: 5})
    assert (hit(trigger).misses, hit(trigger).open) == (1, ("billing-0-2",))


def test_two_looks_must_agree(make: Making) -> None:
    """A commit was on its way when the job was stopped."""
    job = make()
    told = Coordinators(OPEN, {**OPEN, "billing-0-1": "PrepareCommit"}, {"billing-0-1": "x"})
    trigger = armed_trigger(job, CHECKPOINT_COMPLETE, told)
    job.checkpoint(1).complete({0: 3})
    job.completed(1)
    job.goes_on()
    assert trigger.hit is None
    assert told.asked == 4


def test_a_checkpoint_that_has_moved_on_is_a_miss(make: Making) -> None:
    job = make()
    told = Coordinators(OPEN)
    trigger = armed_trigger(job, CHECKPOINT_FLUSHED, told)
    sign = job.sign_of
    job.sign_of = lambda number: "complete" if number == 1 else sign(number)  # type: ignore[method-assign]
    job.checkpoint(1).flush({0: 3})
    job.goes_on()
    assert told.asked == 0
    told.told = [{"billing-0-2": "Ongoing"}]
    job.checkpoint(2).flush({0: 4})
    assert (hit(trigger).number, hit(trigger).misses) == (2, 1)


def test_without_transactions_the_folder_alone_tells(make: Making) -> None:
    job = make(transactional=False)
    told = Coordinators({})
    trigger = armed_trigger(job, CHECKPOINT_BEGUN, told)
    job.checkpoint(1)
    assert hit(trigger).open == ()
    assert told.asked == 0


def test_brokers_that_cannot_be_asked_are_no_reason_to_strike(make: Making) -> None:
    job = make()

    def away() -> Mapping[str, str]:
        raise ConnectionRefusedError("no broker")

    trigger = FlinkCrashPointTrigger(
        CHECKPOINT_BEGUN, job=job, look=away, strike=lambda: None, stop=Stop()
    )  # fmt: skip
    job.checkpoint(1).complete({0: 1})
    job.completed(1)
    job.goes_on()
    assert (trigger.hit, trigger.error) == (None, None)


def test_what_has_ended_does_not_strike(make: Making) -> None:
    job = make()
    told = Coordinators(OPEN)
    trigger = armed_trigger(job, CHECKPOINT_COMPLETE, told)
    trigger.end()
    job.checkpoint(1).complete({0: 3})
    job.completed(1)
    job.goes_on()
    assert told.asked == 0


def test_a_strike_that_fails_is_told_and_lets_go(make: Making) -> None:
    job = make()

    def strike() -> None:
        raise PipelineTrouble("not like this")

    trigger = FlinkCrashPointTrigger(
        CHECKPOINT_BEGUN, job=job, look=Coordinators(OPEN), strike=strike, stop=Stop()
    )
    job.checkpoint(1)
    error = wait_until(lambda: trigger.error, what="the error", seconds=20)
    assert str(error) == "not like this"
    job.goes_on()


def test_of_which_checkpoint_a_transaction_is() -> None:
    told = {"billing-0-11": "Ongoing", "billing-1-1": "Ongoing", "other-0-1": "CompleteCommit"}
    assert open_of(told, "billing", 1) == ("billing-1-1",)
    assert open_of({**told, "billing-0-1": "Empty"}, "billing", 1) == ("billing-1-1",)
    assert open_of({**told, "billing-0-1": "CompleteAbort"}, "billing", 1) is None
