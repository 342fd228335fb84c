"""Faults of Kafka Connect's workers, on workers that are made up here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.stop import Stop
from onceproof.harness.faults.targets import connect
from onceproof.harness.faults.targets.connect import ConnectTaskOwner, ConnectWorkers
from onceproof.harness.faults.workers import workers
from onceproof.harness.processes.trouble import StageTrouble

TOLD = "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer"


class Crew:
    """Two workers; the second gets the task when it is told so."""

    names = ("worker-0", "worker-1")

    def __init__(self, log: Path) -> None:
        self.log = log
        self.log.write_text(f"{TOLD}\n")
        self.runs_it: str | None = "worker-0"
        self.commits = 3
        self.down: set[str] = set()
        self.still = False
        self.waited: list[str] = []

    def owner(self) -> str | None:
        return self.runs_it

    def wait_owner(self) -> str:
        self.waited.append("owner")
        assert self.runs_it is not None
        return self.runs_it

    def wait_together(self) -> None:
        self.waited.append("together")

    def process(self, name: str) -> None:
        if name in self.down:
            raise PipelineTrouble(f"{name} does not run")

    def alive(self) -> bool:
        return len(self.down) < len(self.names)

    def kill(self, name: str, how: str) -> Any:
        self.down.add(name)
        return SimpleNamespace(instance=f"{name}#1", ended="ended by signal 9")

    def stop(self, name: str, how: str) -> Any:
        self.down.add(name)
        return SimpleNamespace(instance=f"{name}#1", ended="exited with 143")

    def restart(self, name: str) -> None:
        self.down.discard(name)

    def pause(self, name: str) -> Any:
        self.still = True

        def thaw() -> None:
            self.still = False

        return SimpleNamespace(
            instance=f"{name}#1", frozen=lambda: self.still, thaw=thaw, log=self.log,
            members=lambda: 2,
        )  # fmt: skip


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Crew:
    crew = Crew(tmp_path / "worker-0.1.log")
    monkeypatch.setattr(connect, "workers", lambda context: crew)
    return crew


def inject(fault: Any, **context: Any) -> Any:
    return fault.inject(SimpleNamespace(**context), "hit")


@pytest.mark.parametrize(
    "fault", [Kill(ConnectTaskOwner()), Stop(ConnectTaskOwner()), Pause(ConnectTaskOwner())]
)
def test_it_bites_when_another_one_has_the_task_and_commits(crew: Crew, fault: Any) -> None:
    injection = inject(fault)
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
    assert "1 positions were committed since" in proof
    crew.waited.clear()
    injection.heal()
    assert (crew.down, crew.still, crew.waited) == (set(), False, ["together", "owner"])


def test_one_that_does_not_stand_still_is_no_zombie(crew: Crew) -> None:
    injection = inject(Pause(ConnectTaskOwner()))
    crew.runs_it, crew.commits, crew.still = "worker-1", 9, False
    assert injection.evidence() is None


def test_what_a_zombie_is_told_is_a_hazard_if_it_is_told_after_its_pause(crew: Crew) -> None:
    told: list[tuple[str, str]] = []

    def hazard(name: str, **more: str) -> None:
        assert (more["hop"], more["fault"]) == ("process", "hit")
        told.append((name, more["detail"]))

    injection = inject(Pause(ConnectTaskOwner()), recorder=SimpleNamespace(hazard=hazard))
    known = SimpleNamespace()
    injection.after_collect(known)
    assert not told, "it was told so before"
    with crew.log.open("a") as log:
        log.write(f"[2026] ERROR it failed\n{TOLD}\n\tat somewhere\nCaused by: {TOLD}\n")
    injection.after_collect(known)
    assert told == [("fenced-zombie", f"worker-0#1 was told: {TOLD}")]


@pytest.mark.parametrize(
    ("fault", "ended"), [(Kill, "ended by signal 9"), (Stop, "exited with 143")]
)
def test_all_workers_end_and_are_started_again(crew: Crew, fault: Any, ended: str) -> None:
    injection = inject(fault(ConnectWorkers()))
    assert crew.down == {"worker-0", "worker-1"}
    assert injection.target == "worker-0#1, worker-1#1"
    assert injection.evidence() == f"worker-0#1 {ended}; worker-1#1 {ended}"
    injection.heal()
    assert (crew.down, crew.waited) == (set(), ["together", "owner"])
    assert injection.evidence() is None


def test_all_workers_stand_still_and_commit_nothing(crew: Crew) -> None:
    producers = SimpleNamespace(acknowledged=100)
    injection = inject(Pause(ConnectWorkers()), producers=producers)
    crew.commits += 1
    assert injection.evidence() is None, "nothing was missed yet"
    producers.acknowledged = 107
    proof = (
        "all 4 processes of worker-0#1, worker-1#1 stand still; meanwhile 7 records were "
        "acknowledged and no position was committed"
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
    crew.down.add("worker-1")
    with pytest.raises(PipelineTrouble, match="worker-1 does not run"):
        inject(fault(ConnectWorkers()))
    assert (crew.down, crew.still) == ({"worker-1"}, False)


def test_what_has_no_workers_cannot_lose_them() -> None:
    context: Any = SimpleNamespace(pipeline=object(), subject=SimpleNamespace(name="another"))
    with pytest.raises(StageTrouble, match="another has no workers"):
        workers(context)
