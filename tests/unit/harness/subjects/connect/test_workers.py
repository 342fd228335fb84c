"""Who runs a connector's task, and what becomes of one that failed, on workers made up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.subjects.connect.login import Login
from onceproof.harness.subjects.connect.worker import ConnectProgram, WorkerTask
from onceproof.harness.subjects.connect.workers import Workers
from onceproof.harness.subjects.supervisor import LIVES
from onceproof.harness.wait import Overdue, Stop, wait_until
from tests.unit.fakes.pipelines import parts_in
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeStop
from tests.unit.fakes.stage import FakeStage


class Asked:
    """What workers answer."""

    said = "nothing"

    def __init__(self, *tasks: tuple[str, str]) -> None:
        self.tasks = [{"state": s, "worker_id": w, "trace": "it broke"} for s, w in tasks]
        self.asked: list[list[str]] = []
        self.restarts = 0

    def status(self, addresses: Any, connector: str) -> dict[str, Any] | None:
        self.asked.append(list(addresses))
        return {"connector": {"state": "RUNNING"}, "tasks": self.tasks} if self.asked[-1] else None

    def restart_failed(self, address: str, connector: str) -> bool:
        self.restarts += 1
        return True


class Nothing:
    """No position is committed."""

    def look(self) -> list[Commit]:
        return []


def crew(asked: Asked, *, dead: str = "", still: str = "", stop: Stop | None = None) -> Workers:
    tasks = [
        WorkerTask(
            name=f"worker-{n}",
            bootstrap="",
            group="workers",
            topic="payments",
            sink="out",
            commits="after",
            address=f"here:{n}",
        )
        for n in range(2)
    ]
    made = Workers(
        tasks,
        parts_in(Path(), stage=FakeStage(brokers=()), stop=stop or Stop()),
        program=ConnectProgram(java=Path("java"), class_path=""),
        login=Login(jaas=Path("/jaas"), authorization="Basic abc"),
        connector="copy",
        settings={},
        positions=Nothing(),
    )
    made.mend_every = 0.02
    made._rest = asked  # type: ignore[assignment]
    for task in tasks:
        made._running[task.name] = life = FakeProcess(f"{task.name}#1", lives=task.name != dead)
        life.still = task.name == still
    return made


def test_the_owner_is_who_is_said_to_run_the_task() -> None:
    asked = Asked(("RUNNING", "here:1"))
    assert crew(asked).owner() == "worker-1"
    assert asked.asked == [["here:0", "here:1"]]


@pytest.mark.parametrize("gone", [{"dead": "worker-1"}, {"still": "worker-1"}])
def test_one_that_is_gone_runs_nothing_whatever_is_said(gone: dict[str, str]) -> None:
    asked = Asked(("RUNNING", "here:1"))
    assert crew(asked, **gone).owner() is None
    assert asked.asked == [["here:0"]], "nor is it asked"


@pytest.mark.parametrize("state", ["UNASSIGNED", "FAILED", "PAUSED", "RESTARTING"])
def test_a_task_that_does_not_run_has_no_owner(state: str) -> None:
    assert crew(Asked((state, "here:0"))).owner() is None


def test_a_task_that_failed_is_started_again_and_counted() -> None:
    asked = Asked(("FAILED", "here:0"))
    made = crew(asked)
    made._restarter.start()
    try:
        wait_until(lambda: asked.restarts >= 1, what="a restart", seconds=20)
        asked.tasks = [{"state": "RUNNING", "worker_id": "here:0"}]
    finally:
        made._over.set()
        made._restarter.join(20)
    assert f"failed tasks restarted {asked.restarts} times" in (made.shortly() or "")
    made.check()


def test_one_that_fails_over_and_over_is_given_up() -> None:
    asked = Asked(("FAILED", "here:0"))
    made = crew(asked)
    made._restarter.start()
    made._restarter.join(60)
    assert asked.restarts == LIVES
    with pytest.raises(PipelineTrouble, match=r"copy failed again after .* restarts: it broke"):
        made.check()
    with pytest.raises(PipelineTrouble):
        made.wait_owner()


def test_waiting_for_an_owner_says_what_was_seen() -> None:
    with pytest.raises(Overdue, match=r"a worker to run the task of copy.*UNASSIGNED"):
        crew(Asked(("UNASSIGNED", "here:0")), stop=FakeStop()).wait_owner()
