"""Faults of a Flink job: their evidence, and what healing waits for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.flink import jobs, replace_job
from onceproof.harness.faults.flink.replace_job import ZOMBIE, ReplaceJob
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets import flink_job
from onceproof.harness.faults.targets.flink_job import IN_DOUBT, FlinkJob
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Overdue, Stop, wait_until
from tests.unit.fakes.run_context import FakeContext, FakeRecorder, FakeSubject
from tests.unit.fakes.stage import FakeStage
from tests.unit.harness.subjects.flink.made_up_job import MadeUpJob

OPEN = {"billing-0-1": "Ongoing", "billing-1-1": "Ongoing"}


class World:
    """A context with a scripted job and scripted transaction states."""

    def __init__(self, job: MadeUpJob, monkeypatch: pytest.MonkeyPatch) -> None:
        self.job = job
        self.states = dict(OPEN)
        self.stage = FakeStage()
        self.recorder = FakeRecorder()
        self.hazards = self.recorder.hazards
        self.context = FakeContext(
            pipeline=job, stage=self.stage, recorder=self.recorder, stop=Stop()
        )
        for module in (jobs, flink_job, replace_job):
            monkeypatch.setattr(module, "transactions_of", lambda context: dict(self.states))

    def hit(self, injection: Any) -> None:
        """Completes a checkpoint and waits until the job is hit there."""
        self.job.checkpoint(1).complete({0: 5})
        wait_until(lambda: injection._trigger.hit, what="the hit", seconds=20)

    def complete_after_restart(self, number: int) -> None:
        """Completes the checkpoint as soon as the job has restarted."""
        life = self.job.life

        def complete() -> None:
            if self.job.life != life and self.job.newest() is None:
                self.job.checkpoint(number).complete({0: 9})

        self._after_start(complete)

    def _after_start(self, act: Callable[[], None]) -> None:
        begin = self.job._begin

        def begun() -> Process:
            process = begin()
            act()
            return process

        self.job._begin = begun  # type: ignore[method-assign]


@pytest.fixture
def world(tmp_path: Path, processes: Processes, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    job = MadeUpJob(tmp_path, processes)
    job.start()
    yield World(job, monkeypatch)
    job.close()


def test_rejects_a_subject_that_is_no_flink_job() -> None:
    context = FakeContext(subject=FakeSubject(name="kafka-streams"))
    with pytest.raises(StageTrouble, match="kafka-streams is not a Flink job"):
        Kill(FlinkJob()).inject(context, "kill-1")


def test_rejects_unknown_window() -> None:
    with pytest.raises(ValueError, match="invalid window 'amid': expected checkpoint-begun or "):
        Kill(FlinkJob(), at="amid")


def test_no_evidence_while_connections_reach_brokers(world: World) -> None:
    injection = Kill(FlinkJob(), at="checkpoint-complete").inject(world.context, "kill-1")
    assert injection.evidence() is None
    world.stage.reached = 2
    world.hit(injection)
    assert injection.evidence() is None
    world.stage.reached = 0
    assert injection.evidence() == (
        "job#1 and all its 1 processes ended by signal 9; checkpoint 1 was complete, with its "
        "transactions billing-0-1, billing-1-1 open"
    )


def test_no_evidence_if_a_transaction_was_committed(world: World) -> None:
    injection = Kill(FlinkJob(), at="checkpoint-complete").inject(world.context, "kill-1")
    world.hit(injection)
    world.states["billing-1-1"] = "CompleteCommit"
    assert injection.evidence() is None
    world.complete_after_restart(2)
    world._after_start(lambda: world.states.update(dict.fromkeys(OPEN, "CompleteCommit")))
    injection.heal()
    assert not world.hazards, "nothing was in doubt"


def test_heal_waits_until_the_transactions_are_decided(world: World) -> None:
    injection = Kill(FlinkJob(), at="checkpoint-complete").inject(world.context, "kill-1")
    world.hit(injection)
    assert injection.evidence()
    assert not world.job.alive()
    world.complete_after_restart(2)
    world._after_start(lambda: world.states.update(dict.fromkeys(OPEN, "CompleteCommit")))
    injection.heal()
    (hazard,) = world.hazards
    assert (hazard.hazard, hazard.batch) == (IN_DOUBT, 1)
    assert hazard.detail.endswith("their final state: CompleteCommit")
    assert len(world.job.started) == 2


def test_heal_fails_while_transactions_stay_open(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_SECONDS", 1.0)
    injection = Kill(FlinkJob(), at="checkpoint-complete").inject(world.context, "kill-1")
    world.hit(injection)
    world.complete_after_restart(2)
    with pytest.raises(Overdue, match="billing-0-1, billing-1-1 to be committed or aborted"):
        injection.heal()
    assert not world.hazards


def test_outage_ends_once_its_transactions_are_aborted(world: World) -> None:
    injection = Kill(FlinkJob(outage=3600), at="checkpoint-complete").inject(
        world.context, "kill-1"
    )
    world.hit(injection)
    assert injection.evidence()
    world.states = dict.fromkeys(OPEN, "CompleteAbort")
    world.complete_after_restart(2)
    injection.heal()
    assert world.hazards[0].detail.endswith("their final state: CompleteAbort")


def test_outage_lasts_for_its_seconds(world: World) -> None:
    injection = Kill(FlinkJob(outage=0.5), at="checkpoint-complete").inject(world.context, "kill-1")
    world.hit(injection)
    world.complete_after_restart(2)
    world._after_start(lambda: world.states.update(dict.fromkeys(OPEN, "CompleteCommit")))
    injection.heal()
    process = world.job.process
    assert process is not None
    assert injection.at is None or process.started_at - injection.at >= 0.5e9
    hit = injection._trigger.hit
    assert hit is not None
    assert process.started_at - hit.at >= 0.5e9


def test_heal_disarms_a_kill_that_never_hit(world: World) -> None:
    injection = Kill(FlinkJob(), at="checkpoint-complete").inject(world.context, "kill-1")
    injection.heal()
    world.job.checkpoint(1).complete({0: 5})
    world.job.completed(1)
    assert world.job.alive()
    assert len(world.job.started) == 1


def test_kills_at_once_without_a_window(world: World) -> None:
    injection = Kill(FlinkJob()).inject(world.context, "kill-1")
    assert injection.evidence() == "job#1 and all its 1 processes ended by signal 9"
    world.complete_after_restart(1)
    injection.heal()
    assert world.job.alive()


def test_resumed_zombie_exits_by_itself(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    waited_beyond: list[int | None] = []
    monkeypatch.setattr(
        replace_job, "wait_completes", lambda context, beyond=None: waited_beyond.append(beyond)
    )
    injection = ReplaceJob().inject(world.context, "zombie-1")
    world.job.checkpoint(1)
    hit = wait_until(lambda: injection._trigger.hit, what="the hit", seconds=20)
    assert injection.evidence() is None
    world.job.checkpoint(2).complete({0: 5})
    world.job.completed(2)
    assert injection.evidence() == (
        "job#1 is paused with billing-0-1, billing-1-1 open; its successor has completed "
        "checkpoint 2"
    )
    hit.process.popen.kill()
    injection.heal()
    (hazard,) = world.hazards
    assert hazard.hazard == ZOMBIE
    assert "job#1 resumed and ended by signal 9" in hazard.detail
    assert waited_beyond == [2]


def test_heal_fails_while_the_zombie_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replace_job, "_SECONDS", 0.5)
    monkeypatch.setattr(replace_job, "wait_completes", lambda context, beyond=None: None)
    injection = ReplaceJob().inject(world.context, "zombie-1")
    world.job.checkpoint(1)
    hit = wait_until(lambda: injection._trigger.hit, what="the hit", seconds=20)
    with pytest.raises(Overdue, match="job#1 to exit"):
        injection.heal()
    assert not hit.process.frozen()
    assert not world.hazards
    hit.process.popen.kill()
    injection.heal()
    assert not world.hazards, "nobody had seen a successor of it at work"


def test_stopped_job_is_restarted(world: World) -> None:
    injection = asked("stop", ["flink-job"]).inject(world.context, "stop-1")
    assert injection.evidence() == "job#1 ended by signal 15: SIGTERM by fault «stop-1»"
    assert not world.job.alive()
    world.complete_after_restart(2)
    injection.heal()
    injection.heal()
    assert len(world.job.started) == 2


def test_paused_job_completes_no_checkpoint(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    producers = world.context.producers
    first = world.job.checkpoint(1)
    injection = Pause(FlinkJob()).inject(world.context, "pause-1")
    assert injection.evidence() is None, "nothing was missed yet"
    producers.acknowledged = 150
    assert injection.evidence() == (
        "all 1 processes of job#1 are paused; meanwhile 50 records were acknowledged and no "
        "checkpoint was completed"
    )
    first.complete({0: 5})
    world.job.completed(1)
    assert injection.evidence() is None, "somebody completed one"
    monkeypatch.setattr(jobs, "_SECONDS", 0.5)
    with pytest.raises(Overdue, match="the Flink job to complete another checkpoint"):
        injection.heal()
    monkeypatch.setattr(jobs, "_SECONDS", 20.0)
    with ThreadPoolExecutor(1) as pool:
        healed = pool.submit(injection.heal)
        time.sleep(0.5)
        world.job.checkpoint(2).complete({0: 9})
        healed.result()
    world.job.goes_on()
    assert len(world.job.started) == 1
