"""A service that commands start, stop and kill: its runner, and the check that it is gone."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.harness.processes import proc
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.user_pipeline import kill_command as module
from onceproof.harness.user_pipeline.deployed import deployed
from onceproof.harness.user_pipeline.health import Health
from onceproof.harness.user_pipeline.kill_command import KillCommand
from onceproof.harness.wait import Overdue, wait_until

UNREACHABLE = "http://127.0.0.1:9/"


class StillAnswering(Health):
    def __init__(self) -> None:
        super().__init__([UNREACHABLE])
        self.seen = "it answered 503"

    def silent(self) -> bool:
        return False


class FakeService:
    """A service that records whether its runner was alive when it was killed."""

    def __init__(self, runner: Process) -> None:
        self.runner_alive_at_kill: list[bool] = []
        self._runner, self._paused = runner, False

    def kill(self) -> str:
        self.runner_alive_at_kill.append(self._runner.leader_alive())
        return "killed by a test"

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False

    def paused(self) -> bool:
        return self._paused


def test_runner_starts_the_service_and_stops_it_on_sigterm(tmp_path: Path) -> None:
    up, down = tmp_path / "up", tmp_path / "down"
    process = subprocess.Popen(deployed(["touch", str(up)], ["touch", str(down)]))
    try:
        wait_until(up.exists, what="it to be started", seconds=60)
        assert process.poll() is None, "it stands for the service"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert down.exists()
    finally:
        process.kill()


@pytest.mark.parametrize(("start", "code"), [(["false"], 1), (["/no/such/program"], 127)])
def test_runner_exits_with_the_code_of_a_failed_start(start: list[str], code: int) -> None:
    assert subprocess.run(deployed(start, ["true"]), timeout=60).returncode == code


def test_kill_waits_until_the_service_stops_answering(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = KillCommand(command=("true",), health=Health([UNREACHABLE])).kill()
    assert outcome.startswith(f"killed by true; {UNREACHABLE} did not answer: ")
    monkeypatch.setattr(module, "_SECONDS", 0.1)
    with pytest.raises(Overdue, match="stop answering after true; last seen: it answered 503"):
        KillCommand(command=("true",), health=StillAnswering()).kill()


def test_failed_kill_command_is_reported() -> None:
    fails = (sys.executable, "-c", "import sys; sys.exit('no such unit')")
    with pytest.raises(StageTrouble, match="exited with code 1; output: no such unit"):
        KillCommand(command=fails, health=Health([UNREACHABLE])).kill()
    with pytest.raises(StageTrouble, match="No such file"):
        KillCommand(command=("/no/such/program",), health=Health([UNREACHABLE])).kill()


def test_kill_ends_the_service_before_its_runner(tmp_path: Path) -> None:
    processes = Processes(new_marker(), tmp_path)
    process = processes.start("pipeline", deployed(["true"], ["true"]))
    outside = FakeService(process)
    process.outside = outside
    process.kill("SIGKILL by a test")
    assert outside.runner_alive_at_kill == [True]
    assert not process.alive()
    assert process.all_ended(1) == "pipeline#1 was killed by a test"


def test_pause_pauses_the_service_not_its_runner(tmp_path: Path) -> None:
    processes = Processes(new_marker(), tmp_path)
    process = processes.start("pipeline", deployed(["true"], ["true"]))
    process.outside = FakeService(process)
    process.pause()
    assert process.frozen()
    assert proc.thread_states(process.popen.pid).isdisjoint("T")
    process.thaw()
    assert not process.frozen()
    process.kill("SIGKILL by a test")


def test_kill_command_cannot_pause() -> None:
    service = KillCommand(command=("true",), health=Health([UNREACHABLE]))
    with pytest.raises(StageTrouble, match="none of them can pause it"):
        service.pause()
    service.resume()
    assert not service.paused()
