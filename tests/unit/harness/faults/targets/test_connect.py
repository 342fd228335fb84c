"""Faults of Kafka Connect's workers, on workers that are made up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.context.run_context import Collected
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.stop import Stop
from onceproof.harness.faults.targets.connect import ConnectTaskOwner, ConnectWorkers
from onceproof.harness.faults.workers import workers
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.connect.workers import Workers
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext, FakeProducers, FakeRecorder, FakeSubject

TOLD = "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer"


class Crew(Workers):
    """Two workers; the second gets the task when it is told so."""

    names = ("worker-0", "worker-1")
    commits = 3

    def __init__(self, log: Path) -> None:
        self.log = log
        self.log.write_text(f"{TOLD}\n")
        self.lives = {name: FakeProcess(f"{name}#1", log=log, count=2) for name in self.names}
        self.runs_it: str | None = "worker-0"
        self.waited: list[str] = []

    def owner(self) -> str | None:
        return self.runs_it

    def wait_owner(self) -> str:
        self.waited.append("owner")
        assert self.runs_it is not None
        return self.runs_it

    def wait_together(self) -> None:
        self.waited.append("together")

    def process(self, name: str) -> FakeProcess:
        if name in self.down:
            raise PipelineTrouble(f"{name} does not run")
        return self.lives[name]

    def alive(self) -> bool:
        return any(life.lives for life in self.lives.values())

    def kill(self, name: str, how: str) -> FakeProcess:
        self.lives[name].kill(how)
        return self.lives[name]

    def stop(self, name: str, how: str) -> FakeProcess:
        self.lives[name].stop(how)
        return self.lives[name]

    def restart(self, name: str) -> None:
        if not self.lives[name].lives:
            self.lives[name] = FakeProcess(f"{name}#2", log=self.log)

    def pause(self, name: str) -> FakeProcess:
        self.lives[name].pause()
        return self.lives[name]

    @property
    def down(self) -> set[str]:
        return {name for name, life in self.lives.items() if not life.lives}

    @property
    def still(self) -> bool:
        """Whether any stands still."""
        return any(life.still for life in self.lives.values())

    @still.setter
    def still(self, still: bool) -> None:
        for life in self.lives.values():
            life.still = still


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return Crew(tmp_path / "worker-0.1.log")


def inject(
    crew: Crew,
    fault: Any,
    recorder: FakeRecorder | None = None,
    producers: FakeProducers | None = None,
) -> Any:
    context = FakeContext(
        pipeline=crew,
        recorder=recorder or FakeRecorder(),
        producers=producers or FakeProducers(),
    )
    return fault.inject(context, "hit")


@pytest.mark.parametrize(
    "fault", [Kill(ConnectTaskOwner()), Stop(ConnectTaskOwner()), Pause(ConnectTaskOwner())]
)
def test_it_takes_effect_when_another_one_has_the_task_and_commits(crew: Crew, fault: Any) -> None:
    injection = inject(crew, fault)
    assert injection.target == "worker-0#1 (runs the task)"
    crew.commits = 5
    assert injection.evidence() is None, "the dead one is still said to run the task"
    crew.runs_it = None
    assert injection.evidence() is None, "nobody runs it"
    crew.runs_it, crew.commits = "worker-1", 3
    assert injection.evidence() is None, "nothing was committed since"
    crew.commits = 4
    proof = injection.evidence()
    assert "worker-1 runs the task" in proof
    assert "1 offsets have been committed since" in proof
    crew.waited.clear()
    injection.heal()
    assert (crew.down, crew.still, crew.waited) == (set(), False, ["together", "owner"])


def test_one_that_does_not_stand_still_is_no_zombie(crew: Crew) -> None:
    injection = inject(crew, Pause(ConnectTaskOwner()))
    crew.runs_it, crew.commits = "worker-1", 9
    crew.lives["worker-0"].thaw()
    assert injection.evidence() is None


def test_what_a_zombie_is_told_is_a_hazard_if_it_is_told_after_its_pause(crew: Crew) -> None:
    injection = inject(crew, Pause(ConnectTaskOwner()), told := FakeRecorder())
    known = Collected(returned={})
    injection.after_collect(known)
    assert not told.hazards, "it was told so before"
    with crew.log.open("a") as log:
        log.write(f"[2026] ERROR it failed\n{TOLD}\n\tat somewhere\nCaused by: {TOLD}\n")
    injection.after_collect(known)
    (found,) = told.hazards
    assert (found.hop, found.fault) == ("process", "hit")
    assert told.seen == [("fenced-zombie", f"worker-0#1 logged: {TOLD}")]


@pytest.mark.parametrize(
    ("fault", "ended"), [(Kill, "ended by signal 9"), (Stop, "exited with 143")]
)
def test_all_workers_end_and_are_started_again(crew: Crew, fault: Any, ended: str) -> None:
    injection = inject(crew, fault(ConnectWorkers()))
    assert crew.down == {"worker-0", "worker-1"}
    assert injection.target == "worker-0#1, worker-1#1"
    assert injection.evidence() == f"worker-0#1 {ended}; worker-1#1 {ended}"
    injection.heal()
    assert (crew.down, crew.waited) == (set(), ["together", "owner"])
    assert injection.evidence() is None


def test_all_workers_stand_still_and_commit_nothing(crew: Crew) -> None:
    producers = FakeProducers(acknowledged=100)
    injection = inject(crew, Pause(ConnectWorkers()), producers=producers)
    crew.commits += 1
    assert injection.evidence() is None, "nothing was missed yet"
    producers.acknowledged = 107
    proof = (
        "all 4 processes of worker-0#1, worker-1#1 are paused; meanwhile 7 records were "
        "acknowledged and no offset was committed"
    )
    assert injection.evidence() == proof, "what was on its way counts for nothing"
    crew.still = False
    assert injection.evidence() is None, "they go on"
    crew.still = True
    crew.commits += 1
    assert injection.evidence() is None, "somebody committed"
    injection.heal()
    assert (crew.still, crew.waited) == (False, ["together", "owner"])


@pytest.mark.parametrize("fault", [Kill, Stop, Pause])
def test_where_one_does_not_run_nobody_is_struck(crew: Crew, fault: Any) -> None:
    crew.lives["worker-1"].lives = False
    with pytest.raises(PipelineTrouble, match="worker-1 does not run"):
        inject(crew, fault(ConnectWorkers()))
    assert (crew.down, crew.still) == ({"worker-1"}, False)


def test_what_has_no_workers_cannot_lose_them() -> None:
    context = FakeContext(subject=FakeSubject(name="another"))
    with pytest.raises(StageTrouble, match="another has no Kafka Connect workers"):
        workers(context)
