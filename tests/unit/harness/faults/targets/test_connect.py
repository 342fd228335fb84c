"""Faults of Kafka Connect workers."""

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

FENCED = "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer"


class FakeWorkers(Workers):
    """Two workers; `task_owner` runs the task."""

    names = ("worker-0", "worker-1")
    commits = 3

    def __init__(self, log: Path) -> None:
        self.log = log
        self.log.write_text(f"{FENCED}\n")
        self.lives = {name: FakeProcess(f"{name}#1", log=log, count=2) for name in self.names}
        self.task_owner: str | None = "worker-0"
        self.waits: list[str] = []

    def owner(self) -> str | None:
        return self.task_owner

    def wait_owner(self) -> str:
        self.waits.append("owner")
        assert self.task_owner is not None
        return self.task_owner

    def wait_together(self) -> None:
        self.waits.append("together")

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
        """Whether any worker is paused."""
        return any(life.still for life in self.lives.values())

    @still.setter
    def still(self, still: bool) -> None:
        for life in self.lives.values():
            life.still = still


@pytest.fixture
def fake_workers(tmp_path: Path) -> FakeWorkers:
    return FakeWorkers(tmp_path / "worker-0.1.log")


def inject(
    fake_workers: FakeWorkers,
    fault: Any,
    recorder: FakeRecorder | None = None,
    producers: FakeProducers | None = None,
) -> Any:
    context = FakeContext(
        pipeline=fake_workers,
        recorder=recorder or FakeRecorder(),
        producers=producers or FakeProducers(),
    )
    return fault.inject(context, "hit")


@pytest.mark.parametrize(
    "fault", [Kill(ConnectTaskOwner()), Stop(ConnectTaskOwner()), Pause(ConnectTaskOwner())]
)
def test_takes_effect_once_another_worker_runs_the_task_and_commits(
    fake_workers: FakeWorkers, fault: Any
) -> None:
    injection = inject(fake_workers, fault)
    assert injection.target == "worker-0#1 (runs the task)"
    fake_workers.commits = 5
    assert injection.evidence() is None, "the dead one is still said to run the task"
    fake_workers.task_owner = None
    assert injection.evidence() is None, "nobody runs it"
    fake_workers.task_owner, fake_workers.commits = "worker-1", 3
    assert injection.evidence() is None, "nothing was committed since"
    fake_workers.commits = 4
    proof = injection.evidence()
    assert "worker-1 runs the task" in proof
    assert "1 offsets have been committed since" in proof
    fake_workers.waits.clear()
    injection.heal()
    assert (fake_workers.down, fake_workers.still, fake_workers.waits) == (
        set(),
        False,
        ["together", "owner"],
    )


def test_no_evidence_for_a_resumed_worker(fake_workers: FakeWorkers) -> None:
    injection = inject(fake_workers, Pause(ConnectTaskOwner()))
    fake_workers.task_owner, fake_workers.commits = "worker-1", 9
    fake_workers.lives["worker-0"].thaw()
    assert injection.evidence() is None


def test_fencing_logged_after_the_pause_is_a_hazard(fake_workers: FakeWorkers) -> None:
    injection = inject(fake_workers, Pause(ConnectTaskOwner()), recorder := FakeRecorder())
    collected = Collected(returned={})
    injection.after_collect(collected)
    assert not recorder.hazards, "it was told so before"
    with fake_workers.log.open("a") as log:
        log.write(f"[2026] ERROR it failed\n{FENCED}\n\tat somewhere\nCaused by: {FENCED}\n")
    injection.after_collect(collected)
    (hazard,) = recorder.hazards
    assert (hazard.hop, hazard.fault) == ("process", "hit")
    assert recorder.seen == [("fenced-zombie", f"worker-0#1 logged: {FENCED}")]


@pytest.mark.parametrize(
    ("fault", "ended"), [(Kill, "ended by signal 9"), (Stop, "exited with 143")]
)
def test_all_workers_end_and_are_restarted(
    fake_workers: FakeWorkers, fault: Any, ended: str
) -> None:
    injection = inject(fake_workers, fault(ConnectWorkers()))
    assert fake_workers.down == {"worker-0", "worker-1"}
    assert injection.target == "worker-0#1, worker-1#1"
    assert injection.evidence() == f"worker-0#1 {ended}; worker-1#1 {ended}"
    injection.heal()
    assert (fake_workers.down, fake_workers.waits) == (set(), ["together", "owner"])
    assert injection.evidence() is None


def test_pause_of_all_workers_takes_effect_while_nothing_is_committed(
    fake_workers: FakeWorkers,
) -> None:
    producers = FakeProducers(acknowledged=100)
    injection = inject(fake_workers, Pause(ConnectWorkers()), producers=producers)
    fake_workers.commits += 1
    assert injection.evidence() is None, "nothing was missed yet"
    producers.acknowledged = 107
    proof = (
        "all 4 processes of worker-0#1, worker-1#1 are paused; meanwhile 7 records were "
        "acknowledged and no offset was committed"
    )
    assert injection.evidence() == proof, "what was on its way counts for nothing"
    fake_workers.still = False
    assert injection.evidence() is None, "they go on"
    fake_workers.still = True
    fake_workers.commits += 1
    assert injection.evidence() is None, "somebody committed"
    injection.heal()
    assert (fake_workers.still, fake_workers.waits) == (False, ["together", "owner"])


@pytest.mark.parametrize("fault", [Kill, Stop, Pause])
def test_no_worker_is_hit_unless_all_run(fake_workers: FakeWorkers, fault: Any) -> None:
    fake_workers.lives["worker-1"].lives = False
    with pytest.raises(PipelineTrouble, match="worker-1 does not run"):
        inject(fake_workers, fault(ConnectWorkers()))
    assert (fake_workers.down, fake_workers.still) == ({"worker-1"}, False)


def test_rejects_a_subject_without_workers() -> None:
    context = FakeContext(subject=FakeSubject(name="another"))
    with pytest.raises(StageTrouble, match="another has no Kafka Connect workers"):
        workers(context)
