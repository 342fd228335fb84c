"""Task ownership and restarts of failed tasks, on fake Connect workers."""

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


class FakeRest:
    """The REST interface of workers that report `tasks`."""

    last_error = "nothing"

    def __init__(self, *tasks: tuple[str, str]) -> None:
        self.tasks = [{"state": s, "worker_id": w, "trace": "it broke"} for s, w in tasks]
        self.queried: list[list[str]] = []
        self.restarts = 0

    def status(self, addresses: Any, connector: str) -> dict[str, Any] | None:
        self.queried.append(list(addresses))
        return (
            {"connector": {"state": "RUNNING"}, "tasks": self.tasks} if self.queried[-1] else None
        )

    def restart_failed(self, address: str, connector: str) -> bool:
        self.restarts += 1
        return True


class NoCommits:
    """Offsets of a connector that has committed nothing."""

    def look(self) -> list[Commit]:
        return []


def make_workers(
    rest: FakeRest, *, dead: str = "", still: str = "", stop: Stop | None = None
) -> Workers:
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
        positions=NoCommits(),
    )
    made.mend_every = 0.02
    made._rest = rest  # type: ignore[assignment]
    for task in tasks:
        made._running[task.name] = life = FakeProcess(f"{task.name}#1", lives=task.name != dead)
        life.still = task.name == still
    return made


def test_owner_is_the_worker_running_the_task() -> None:
    rest = FakeRest(("RUNNING", "here:1"))
    assert make_workers(rest).owner() == "worker-1"
    assert rest.queried == [["here:0", "here:1"]]


@pytest.mark.parametrize("gone", [{"dead": "worker-1"}, {"still": "worker-1"}])
def test_dead_or_frozen_worker_is_never_the_owner(gone: dict[str, str]) -> None:
    rest = FakeRest(("RUNNING", "here:1"))
    assert make_workers(rest, **gone).owner() is None
    assert rest.queried == [["here:0"]], "nor is it asked"


@pytest.mark.parametrize("state", ["UNASSIGNED", "FAILED", "PAUSED", "RESTARTING"])
def test_task_that_is_not_running_has_no_owner(state: str) -> None:
    assert make_workers(FakeRest((state, "here:0"))).owner() is None


def test_failed_task_is_restarted_and_counted() -> None:
    rest = FakeRest(("FAILED", "here:0"))
    made = make_workers(rest)
    made._restarter.start()
    try:
        wait_until(lambda: rest.restarts >= 1, what="a restart", seconds=20)
        rest.tasks = [{"state": "RUNNING", "worker_id": "here:0"}]
    finally:
        made._over.set()
        made._restarter.join(20)
    assert f"failed tasks restarted {rest.restarts} times" in (made.shortly() or "")
    made.check()


def test_gives_up_on_task_that_keeps_failing() -> None:
    rest = FakeRest(("FAILED", "here:0"))
    made = make_workers(rest)
    made._restarter.start()
    made._restarter.join(60)
    assert rest.restarts == LIVES
    with pytest.raises(PipelineTrouble, match=r"copy failed again after .* restarts: it broke"):
        made.check()
    with pytest.raises(PipelineTrouble):
        made.wait_owner()


def test_wait_owner_timeout_reports_the_last_state() -> None:
    with pytest.raises(Overdue, match=r"a worker to run the task of copy.*UNASSIGNED"):
        make_workers(FakeRest(("UNASSIGNED", "here:0")), stop=FakeStop()).wait_owner()
