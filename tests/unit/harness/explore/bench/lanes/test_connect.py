"""What a worker's lane does with its connector, and where its client ids come from."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.harness.explore.bench.lanes.base import Surroundings
from onceproof.harness.explore.bench.lanes.connect import ConnectLane
from onceproof.harness.explore.bench.trace import lane_and_life
from onceproof.harness.explore.exploration import Load
from onceproof.harness.kafka.group_offsets import Commit


class ToldRest:
    """A REST API that answers what a test tells it."""

    def __init__(self) -> None:
        self.tasks: list[dict[str, str]] = []
        self.settings: dict[str, Any] = {}
        self.restarted: list[str] = []

    def status(self, addresses: list[str], connector: str) -> dict[str, Any]:
        return {"connector": {"state": "RUNNING"}, "tasks": self.tasks}

    def create(self, address: str, connector: str, settings: dict[str, Any]) -> bool:
        self.settings = settings
        return True

    def restart_failed(self, address: str, connector: str) -> bool:
        self.restarted.append(address)
        return True


@pytest.fixture
def rest() -> ToldRest:
    return ToldRest()


@pytest.fixture
def lane(tmp_path: Path, rest: ToldRest, monkeypatch: pytest.MonkeyPatch) -> ConnectLane:
    around = SimpleNamespace(work=tmp_path, bootstrap="127.0.0.1:1", addresses={1: "", 2: ""})
    lane = ConnectLane(
        name="lane1", load=Load(), around=cast("Surroundings", around), client="java"
    )
    life = SimpleNamespace(leader_alive=lambda: True, frozen=lambda: False, name="lane1-1")
    lane.lives.append(cast("Any", life))
    lane._addresses.append("127.0.0.1:2")
    vars(lane)["_rest"] = rest
    monkeypatch.setattr(lane, "_joined", lambda: True)
    return lane


def test_inputs_come_when_the_task_is_running(lane: ConnectLane, rest: ToldRest) -> None:
    lane.restart()
    assert rest.settings, "the connector is created when the worker has joined"
    lane.restart()
    assert not lane.ready()
    rest.tasks = [{"state": "RUNNING"}]
    lane.restart()
    assert lane.ready()
    # A fault may end the task for good, which is a stall.
    lane._ends, rest.tasks = {0: 3}, []
    lane.restart()
    assert lane.ready()


def test_failed_task_is_restarted_and_perceived(lane: ConnectLane, rest: ToldRest) -> None:
    assert lane.perceived() == "committed"
    lane._created = True
    rest.tasks = [{"state": "FAILED", "trace": "org.example.Fenced: by another\n\tat …"}]
    lane.restart()
    lane.restart()
    assert rest.restarted == ["127.0.0.1:2"] * 2
    assert lane.perceived() == "org.example.Fenced"


def test_client_ids_of_the_connector_follow_the_life(lane: ConnectLane, rest: ToldRest) -> None:
    """The settings are those of all lives, so each worker fills in its own."""
    lane.restart()
    ids = {value for name, value in rest.settings.items() if name.endswith("client.id")}
    assert ids == {"${env:ONCEPROOF_LIFE}-task"}
    assert lane_and_life("lane1-2-task") == ("lane1", 2)
    assert lane_and_life("lane1-lane1-2-worker-offsets") is None, "Connect's own topics"
    assert not any(name.startswith("offset-syncs") for name in rest.settings)


def test_committed_when_all_offsets_are_in_its_topic(lane: ConnectLane) -> None:
    lane._ends = {0: 3, 1: 2}
    found = [Commit(topic="lane1in", partition=0, offset=3, transactional=True)]
    vars(lane)["_offsets"] = SimpleNamespace(look=lambda: found)
    assert not lane._committed()
    found.append(Commit(topic="lane1in", partition=1, offset=2, transactional=True))
    assert lane._committed()


def test_offsets_of_the_broken_twin_are_apart(lane: ConnectLane) -> None:
    assert lane.atomic_with == [lane.output]
    lane.exactly = False
    assert lane.atomic_with == []
