"""Concurrent stages, and stages that leave nothing behind."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import requests

from onceproof.harness.links.blocks import take_block
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.local import LocalStage
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Interrupted, Stop
from tests.integration.staging import (
    Staged,
    Talk,
    listeners,
    marked_processes,
    metadata,
    serves,
    shared_memory,
    staged,
    told_by,
    whole_everywhere,
)

pytestmark = pytest.mark.integration


@pytest.fixture
def second(tools: StageTools, tmp_path: Path) -> Iterator[Staged]:
    with staged(tmp_path / "second", tools) as made:
        yield made


def exists(segment: str, pids: set[int]) -> bool:
    return segment in shared_memory(pids) or (
        segment.startswith("/dev/shm/") and Path(segment).exists()
    )


def test_second_stage_is_independent_and_leaves_nothing_behind(
    staging: Staged, second: Staged, topic: Callable[..., str]
) -> None:
    first, other = staging.stage, second.stage
    name = topic(3)
    before = told_by(first, "broker-1", name)
    assert staging.block.number != second.block.number
    assert not listeners(staging.block) & listeners(second.block)
    assert staging.processes.marker != second.processes.marker
    # They share node ids and nothing else.
    for node in other.brokers:
        cluster = metadata(other.bootstrap(AUDITOR, node))
        assert cluster.brokers.keys() == {1, 2, 3}
        assert name not in cluster.topics
        assert all(a.startswith(f"127.{second.block.number}.") for a in cluster.brokers.values())

    with Talk(first.bootstrap("producer", "broker-1")) as connected:
        other.kill("broker-1", "a test")
        assert not other.alive("broker-1")
        assert first.alive("broker-1")
        connected.ask()
        assert connected.answered()
        assert first.disturbed() == {}
        assert set(other.disturbed()) > {"broker-1", "producer→broker-1"}
        assert told_by(first, "broker-1", name) == before
        assert whole_everywhere(first, name)

    # Stop it with one dead and one paused broker.
    other.pause("broker-2")
    pids = set(marked_processes(second.processes.marker))
    for process in second.living:
        pids |= {p.pid for p in psutil.Process(process.session).children(recursive=True)}
    assert listeners(second.block)
    assert all(folder.exists() for folder in other.scratch)
    memory = shared_memory(pids)
    assert any(s.startswith("segment") for s in memory), "PostgreSQL always has one"

    other.stop()
    assert marked_processes(second.processes.marker) == {}
    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    assert listeners(second.block) == set()
    assert not [s for s in memory if exists(s, pids)]
    assert not [folder for folder in other.scratch if folder.exists()]
    marker = second.processes.marker
    assert not [p for p in Path(tempfile.gettempdir()).iterdir() if marker in p.name]
    assert all(p.ended_at is not None for p in second.processes.all)
    postgres = next(p for p in second.processes.all if p.name == "postgres")
    assert (postgres.how, postgres.popen.returncode) == ("torn down", 0)
    other.stop()  # already stopped: no error

    # The first stage is unaffected.
    assert first.disturbed() == {}
    assert serves(first.bootstrap("pipeline", "broker-1"))
    assert whole_everywhere(first, name)


@pytest.fixture
def unstarted(tools: StageTools, tmp_path: Path) -> Iterator[Callable[..., LocalStage]]:
    made: list[LocalStage] = []
    block = take_block()
    (tmp_path / "logs").mkdir()
    processes = Processes(new_marker(), tmp_path / "logs")

    def make(stop: Stop | None = None, **changes: object) -> LocalStage:
        changed = dataclasses.replace(tools, **changes)
        made.append(
            LocalStage(
                tools=changed, processes=processes, work=tmp_path / "work", block=block,
                stop=stop or Stop(),
            )
        )  # fmt: skip
        return made[-1]

    yield make
    for stage in made:
        stage.stop()
        assert marked_processes(processes.marker) == {}
        assert listeners(block) == set()
        assert not [folder for folder in stage.scratch if folder.exists()]
    block.release()


def test_failed_start_names_the_reason_and_leaves_nothing(
    unstarted: Callable[..., LocalStage], tmp_path: Path
) -> None:
    with pytest.raises(StageTrouble, match=r"formatting broker-1 failed: .*StorageTool"):
        unstarted(kafka_libs=tmp_path).start()


def test_interrupted_start_leaves_nothing(
    unstarted: Callable[..., LocalStage],
) -> None:
    stop = Stop()
    stop.set("SIGINT received")
    with pytest.raises(Interrupted, match="SIGINT received"):
        unstarted(stop).start()


def test_stop_accepts_stage_that_never_started(
    unstarted: Callable[..., LocalStage],
) -> None:
    stage = unstarted()
    assert not stage.alive("broker-1")
    assert not stage.alive("postgres")
    with pytest.raises(requests.RequestException):
        requests.get(f"http://{stage._toxiproxy.address}/version", timeout=5)
    stage.stop()


def test_restart_refuses_running_broker(
    unstarted: Callable[..., LocalStage], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, started = unstarted(), []
    broker = stage._brokers["broker-2"]
    monkeypatch.setattr(broker, "process", SimpleNamespace(leader_alive=lambda: True))
    monkeypatch.setattr(broker, "start", lambda: started.append("a second life"))
    monkeypatch.setattr(broker, "wait_listening", lambda stop: None)
    monkeypatch.setattr(broker, "wait_started", lambda stop: None)
    monkeypatch.setattr(stage._toxiproxy, "set_enabled", lambda proxy, enabled: None)
    with pytest.raises(StageTrouble, match="broker-2"):
        stage.restart("broker-2")
    assert started == []


@pytest.mark.parametrize(
    "act",
    [
        lambda stage: stage.alive("broker-9"),
        lambda stage: stage.kill("broker-9", "a test"),
        lambda stage: stage.restart("broker-9"),
        lambda stage: stage.shut_down("broker-9", "a test"),
        lambda stage: stage.pause("broker-9"),
        lambda stage: stage.resume("broker-9"),
        lambda stage: stage.paused("broker-9"),
        lambda stage: stage.bootstrap("producer", "broker-9"),
    ],
    ids=[
        "alive",
        "kill",
        "restart",
        "stop",
        "pause",
        "resume",
        "paused",
        "bootstrap",
    ],
)
def test_unknown_node_is_refused(
    unstarted: Callable[..., LocalStage], act: Callable[[LocalStage], object]
) -> None:
    with pytest.raises(StageTrouble, match="broker-1, broker-2, broker-3"):
        act(unstarted())
