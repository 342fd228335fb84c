"""A service beside us, ended by commands: its runner, and the proof that it is gone."""

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

NOBODY = "http://127.0.0.1:9/"


class Answering(Health):
    def __init__(self) -> None:
        super().__init__([NOBODY])
        self.seen = "it answered 503"

    def silent(self) -> bool:
        return False


class Service:
    """Killed by a test; can be paused."""

    def __init__(self, runner: Process) -> None:
        self.story: list[bool] = []
        self._runner, self._still = runner, False

    def kill(self) -> str:
        self.story.append(self._runner.leader_alive())
        return "killed by a test"

    def pause(self) -> None:
        self._still = True

    def resume(self) -> None:
        self._still = False

    def paused(self) -> bool:
        return self._still


def test_it_is_started_and_when_asked_stopped(tmp_path: Path) -> None:
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
def test_a_start_that_fails_is_told(start: list[str], code: int) -> None:
    assert subprocess.run(deployed(start, ["true"]), timeout=60).returncode == code


def test_a_kill_is_proved_by_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    words = KillCommand(command=("true",), health=Health([NOBODY])).kill()
    assert words.startswith(f"killed by true; {NOBODY} did not answer: ")
    monkeypatch.setattr(module, "_SECONDS", 0.1)
    with pytest.raises(Overdue, match="stop answering after true; last seen: it answered 503"):
        KillCommand(command=("true",), health=Answering()).kill()


def test_a_kill_command_that_fails_kills_nothing() -> None:
    fails = (sys.executable, "-c", "import sys; sys.exit('no such unit')")
    with pytest.raises(StageTrouble, match="exited with code 1; output: no such unit"):
        KillCommand(command=fails, health=Health([NOBODY])).kill()
    with pytest.raises(StageTrouble, match="No such file"):
        KillCommand(command=("/no/such/program",), health=Health([NOBODY])).kill()


def test_its_runner_is_killed_behind_it(tmp_path: Path) -> None:
    processes = Processes(new_marker(), tmp_path)
    process = processes.start("pipeline", deployed(["true"], ["true"]))
    outside = Service(process)
    process.outside = outside
    process.kill("SIGKILL by a test")
    assert outside.story == [True]
    assert not process.alive()
    assert process.all_ended(1) == "pipeline#1 was killed by a test"


def test_what_it_stands_for_is_paused_in_its_place(tmp_path: Path) -> None:
    processes = Processes(new_marker(), tmp_path)
    process = processes.start("pipeline", deployed(["true"], ["true"]))
    process.outside = Service(process)
    process.pause()
    assert process.frozen()
    assert proc.thread_states(process.popen.pid).isdisjoint("T")
    process.thaw()
    assert not process.frozen()
    process.kill("SIGKILL by a test")


def test_a_service_that_only_commands_reach_cannot_be_paused() -> None:
    service = KillCommand(command=("true",), health=Health([NOBODY]))
    with pytest.raises(StageTrouble, match="none of them can pause it"):
        service.pause()
    service.resume()
    assert not service.paused()
