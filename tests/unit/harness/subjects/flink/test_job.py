"""Lives of a Flink job: starting points, recorded offsets and crash points.

The job is a dummy process; its checkpoints are made by hand.
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
from onceproof.harness.subjects.crash_point_trigger import StruckProcess
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

MakeJob = Callable[..., MadeUpJob]


@dataclass(frozen=True)
class GroupOffsets:
    """Fixed committed offsets of a group."""

    commits: list[Commit]

    def look(self) -> list[Commit]:
        return self.commits


@pytest.fixture
def make(tmp_path: Path, processes: Processes) -> Iterator[MakeJob]:
    made: list[MadeUpJob] = []

    def job(**options: Any) -> MadeUpJob:
        made.append(MadeUpJob(tmp_path, processes, **options))
        made[-1].start()
        return made[-1]

    yield job
    for one in made:
        one.close()


# Starting points and recorded offsets.


def test_life_starts_from_the_newest_complete_checkpoint(make: MakeJob) -> None:
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
    assert "flink.execution.state-recovery.path" not in first
    assert second["flink.execution.state-recovery.path"].endswith("/life-1/f00/chk-1")
    assert second["flink.execution.checkpointing.dir"].endswith("/life-2")
    assert job.newest() is None


def test_life_that_completes_no_checkpoint_keeps_the_previous_one(make: MakeJob) -> None:
    job = make()
    job.checkpoint(4).complete({0: 10})
    for _ in range(2):
        job.kill("a test")
        job.start()
    paths = [settings.get("flink.execution.state-recovery.path", "") for settings in job.started]
    assert paths[1] == paths[2]
    assert paths[2].endswith("/life-1/f00/chk-4")


def test_unrestored_job_flows_once_its_group_has_committed(make: MakeJob) -> None:
    kept: list[Commit] = []
    job = make(restored=False, kept=GroupOffsets(kept))
    job.checkpoint(1).complete({0: 10})
    job.completed(1)
    assert job.positions() == {("payments", 0): 10}
    assert not job.flows(), "a life that starts where its group was would miss nothing"
    kept.append(Commit(topic="payments", partition=0, offset=10, transactional=False))
    assert job.flows()


def test_unrestored_twin_resumes_from_the_configured_start(make: MakeJob) -> None:
    job = make(restored=False, start=0)
    job.checkpoint(1).complete({0: 10})
    job.completed(1)
    job.kill("a test")
    job.start()
    assert [set(settings) for settings in job.started] == [
        {"flink.execution.checkpointing.dir"}
    ] * 2
    assert job.positions() is None
    assert job.commits == 1
    rows = read_lines(job.history).lines["positions"]
    assert [(r["offset"], r["batch"]) for r in rows] == [(10, 1), (0, None)]


def test_unrestored_job_without_start_records_no_resume_offset(make: MakeJob) -> None:
    job = make(restored=False)
    job.checkpoint(1).complete({0: 10})
    job.completed(1)
    job.kill("a test")
    job.start()
    assert job.positions() is None
    assert len(read_lines(job.history).lines["positions"]) == 1


def test_records_the_offsets_of_each_checkpoint(make: MakeJob) -> None:
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


def test_checkpoint_completed_by_a_zombie_is_ignored(make: MakeJob) -> None:
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
    assert job.started[-1]["flink.execution.state-recovery.path"].endswith("/life-2/f00/chk-2")


def test_job_that_keeps_ending_is_restarted_then_given_up(
    make: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "LIVES", 2)
    job = make(program=ENDING)

    def reported_trouble() -> str | None:
        try:
            job.check()
        except PipelineTrouble as trouble:
            return str(trouble)
        return None

    message = wait_until(reported_trouble, what="the job to be given up", seconds=20)
    assert "ended by itself 3 times" in message
    assert "no more" in message
    assert len(job.started) == 3


def test_unreadable_checkpoint_fails_the_check(make: MakeJob) -> None:
    job = make()
    checkpoint = job.checkpoint(1)
    (checkpoint.folder / METADATA).mkdir()

    def reported_trouble() -> str | None:
        try:
            job.check()
        except WatchTrouble as trouble:
            return str(trouble)
        return None

    message = wait_until(reported_trouble, what="the trouble", seconds=20)
    assert "failed: UnreadableCheckpoint: " in message
    assert "chk-1" in message


# Crash points.


class Coordinators:
    """States of transactions: one of `answers` at each call, and the last from then on."""

    def __init__(self, *answers: Mapping[str, str]) -> None:
        self.answers = list(answers)
        self.calls = 0

    def __call__(self) -> Mapping[str, str]:
        self.calls += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def armed_trigger(
    job: MadeUpJob, window: Window, coordinators: Coordinators
) -> FlinkCrashPointTrigger:
    def strike() -> None:
        job.kill("a test")

    return FlinkCrashPointTrigger(window, job=job, look=coordinators, strike=strike, stop=Stop())


def hit(trigger: FlinkCrashPointTrigger) -> StruckProcess:
    return wait_until(lambda: trigger.hit, what="the hit", seconds=20, seen=lambda: trigger.error)


OPEN = {"billing-0-1": "Ongoing", "billing-1-1": "Ongoing", "billing-0-2": "Ongoing"}


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_trigger_strikes_at_the_sign_of_its_window(make: MakeJob, window: Window) -> None:
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


def test_ended_transaction_counts_as_a_miss(make: MakeJob) -> None:
    job = make()
    coordinators = Coordinators({**OPEN, "billing-1-1": "CompleteCommit"})
    trigger = armed_trigger(job, CHECKPOINT_COMPLETE, coordinators)
    job.checkpoint(1).complete({0: 3})
    job.completed(1)
    job.goes_on()
    assert trigger.hit is None
    coordinators.answers = [{"billing-0-2": "Ongoing", "billing-1-2": "Empty"}]
    job.checkpoint(2).complete({0: 5})
    assert (hit(trigger).misses, hit(trigger).open) == (1, ("billing-0-2",))


def test_strikes_only_if_two_looks_agree(make: MakeJob) -> None:
    """A commit was under way when the job was stopped."""
    job = make()
    coordinators = Coordinators(
        OPEN, {**OPEN, "billing-0-1": "PrepareCommit"}, {"billing-0-1": "x"}
    )
    trigger = armed_trigger(job, CHECKPOINT_COMPLETE, coordinators)
    job.checkpoint(1).complete({0: 3})
    job.completed(1)
    job.goes_on()
    assert trigger.hit is None
    assert coordinators.calls == 4


def test_checkpoint_past_its_window_counts_as_a_miss(make: MakeJob) -> None:
    job = make()
    coordinators = Coordinators(OPEN)
    trigger = armed_trigger(job, CHECKPOINT_FLUSHED, coordinators)
    sign = job.sign_of
    job.sign_of = lambda number: "complete" if number == 1 else sign(number)  # type: ignore[method-assign]
    job.checkpoint(1).flush({0: 3})
    job.goes_on()
    assert coordinators.calls == 0
    coordinators.answers = [{"billing-0-2": "Ongoing"}]
    job.checkpoint(2).flush({0: 4})
    assert (hit(trigger).number, hit(trigger).misses) == (2, 1)


def test_coordinators_are_not_asked_without_transactions(make: MakeJob) -> None:
    job = make(transactional=False)
    coordinators = Coordinators({})
    trigger = armed_trigger(job, CHECKPOINT_BEGUN, coordinators)
    job.checkpoint(1)
    assert hit(trigger).open == ()
    assert coordinators.calls == 0


def test_does_not_strike_while_brokers_are_unreachable(make: MakeJob) -> None:
    job = make()

    def unreachable() -> Mapping[str, str]:
        raise ConnectionRefusedError("no broker")

    trigger = FlinkCrashPointTrigger(
        CHECKPOINT_BEGUN, job=job, look=unreachable, strike=lambda: None, stop=Stop()
    )  # fmt: skip
    job.checkpoint(1).complete({0: 1})
    job.completed(1)
    job.goes_on()
    assert (trigger.hit, trigger.error) == (None, None)


def test_ended_trigger_does_not_strike(make: MakeJob) -> None:
    job = make()
    coordinators = Coordinators(OPEN)
    trigger = armed_trigger(job, CHECKPOINT_COMPLETE, coordinators)
    trigger.end()
    job.checkpoint(1).complete({0: 3})
    job.completed(1)
    job.goes_on()
    assert coordinators.calls == 0


def test_failed_strike_is_reported_and_the_job_resumes(make: MakeJob) -> None:
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


def test_open_of_finds_open_transactions_of_a_checkpoint() -> None:
    states = {"billing-0-11": "Ongoing", "billing-1-1": "Ongoing", "other-0-1": "CompleteCommit"}
    assert open_of(states, "billing", 1) == ("billing-1-1",)
    assert open_of({**states, "billing-0-1": "Empty"}, "billing", 1) == ("billing-1-1",)
    assert open_of({**states, "billing-0-1": "CompleteAbort"}, "billing", 1) is None
