"""Faults that fail halfway are recorded, and the stage is torn down nevertheless."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.harness.context.recorder import Recorder
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.history.tables import read_lines
from onceproof.harness.lab.by_hand import HealedByUser
from onceproof.harness.links.topology import POSTGRES
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.schedule.fault_execution import FaultExecution
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.tools.setup import StageTools
from tests.end_to_end.catalogue import LATER
from tests.integration.faults import context
from tests.integration.staging import (
    Staged,
    Talk,
    eventually,
    marked_processes,
    shared_memory,
    staged,
)

pytestmark = pytest.mark.integration


def start_fault(world: RunContext, command: str) -> tuple[FaultExecution, threading.Thread]:
    """Inject a fault as a lab does, without an end, and wait until it took effect or failed."""
    name, *arguments = command.split()
    fault = ScheduledFault(
        name=command, do=asked(name, arguments), until=HealedByUser(), seconds=60
    )
    execution = FaultExecution(fault, world)
    thread = threading.Thread(target=execution.run, args=(lambda: None,), daemon=True)
    thread.start()
    eventually(
        lambda: execution.state in ("took effect", "failed"),
        f"«{command}» to take effect or to fail",
    )
    return execution, thread


def test_killed_toxiproxy_fails_faults_and_teardown_completes(
    tools: StageTools, tmp_path: Path
) -> None:
    history = tmp_path / "history"
    history.mkdir()
    with staged(tmp_path / "run", tools) as cluster:
        stage, recorder = cluster.stage, Recorder(history, [])
        processes = set(marked_processes(cluster.processes.marker))
        world = replace(context(stage), recorder=recorder)
        with Talk(stage.bootstrap("producer", "broker-1")) as client:
            client.ask()
            assert client.answered()
            held, thread = start_fault(world, "hold producer broker-1 requests")
            assert held.state == "took effect"
            (toxiproxy,) = (p for p in cluster.living if p.name == "toxiproxy")
            toxiproxy.kill("a test")
            held.end()
            thread.join(60)
        assert held.state == "failed"
        assert held.unhealed
        assert "not healed: StageTrouble: toxiproxy at " in held.detail

        cut, _ = start_fault(world, "cut producer broker-2")
        assert cut.detail.startswith("StageTrouble: toxiproxy at ")
        killed, _ = start_fault(world, "kill broker-3")
        assert killed.detail.startswith("StageTrouble: toxiproxy at ")
        ended, _ = start_fault(world, "kill database")
        assert ended.detail.startswith("StageTrouble: toxiproxy at ")
        assert not stage.alive("broker-3")
        assert not stage.alive(POSTGRES)
        again, _ = start_fault(world, "pause broker-3")
        assert "StageTrouble: broker-3 cannot be paused: it is not running" in again.detail
        with pytest.raises(StageTrouble, match=r"toxiproxy at .* failed"):
            stage.disturbed()
        recorder.close()
        orphaned = shared_memory(processes)
        assert orphaned, "a database that was killed leaves its segment behind"
    assert marked_processes(cluster.processes.marker) == {}
    assert not orphaned & shared_memory(processes)
    assert not stage.scratch or not stage.scratch[0].exists()
    rows = read_lines(history).tables["faults"].to_pylist()
    errors = {row["fault"]: row["error"] for row in rows}
    assert {words.partition(" ")[0] for words in errors} == {"hold", "cut", "kill", "pause"}
    assert all("StageTrouble: " in error for error in errors.values())


@LATER
def test_faults_refuse_dead_broker(staging: Staged) -> None:
    stage = staging.stage
    stage.kill("broker-2", "a test")
    try:
        with pytest.raises(StageTrouble, match="did not work before the fault"):
            asked("delay", ["producer", "broker-2", "requests", "9", "0"]).inject(
                context(stage), "delay"
            )
        for name in ("kill", "stop", "pause"):
            with pytest.raises(StageTrouble, match=r"broker-2 cannot be .*: it is not running"):
                asked(name, ["broker-2"]).inject(context(stage), name)
    finally:
        stage.restart("broker-2")
    assert stage.disturbed() == {}
