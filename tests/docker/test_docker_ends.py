"""No container, network, volume or process of a run outlives the harness.

The moment of the kill is random, from the first call of the engine on;
`ONCEPROOF_KILLS=20 make test-docker` tries twenty moments instead of four.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from onceproof.harness.processes.sweep import where
from onceproof.harness.stage.docker_reaper import LABEL
from onceproof.harness.wait import Stop
from tests.docker.staging import docker, labelled_resources, resources_of_run
from tests.integration.staging import eventually

KILLS = int(os.environ.get("ONCEPROOF_KILLS", "4"))
SCENARIO = "spark-foreachbatch-postgres"


@pytest.fixture
def started(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A running `onceproof run`."""
    with (tmp_path / "out").open("wb") as out:
        popen = subprocess.Popen(
            [sys.executable, "-m", "onceproof", "run", SCENARIO, "--seed", "1", "--backend",
             "docker", "--out", str(tmp_path / "runs")],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
    yield popen
    if popen.poll() is None:
        popen.kill()
        popen.wait()


def processes_of(popen: subprocess.Popen[bytes], folder: Path) -> list[str]:
    """Command lines of all processes with the run's marker, reapers included."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ().get("ONCEPROOF_RUN", "")
            words = " ".join(process.cmdline())
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if environment.startswith(f"{popen.pid}-") or f" {popen.pid}-" in words:
            found.append(words)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_killed_harness_leaves_nothing_behind(
    number: int, started: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    rng = random.Random(number)
    # Half of the kills during the start of the stage, half within the 40 seconds after it.
    minimum = rng.randrange(1, 14) if number % 2 == 0 else 13
    eventually(
        lambda: len(resources_of_run(started.pid)) >= minimum or started.poll() is not None,
        "its things",
    )
    if number % 2:
        Stop().pause(rng.uniform(0, 40))
    assert started.poll() is None, (tmp_path / "out").read_text()
    if number % 4 < 2:
        os.killpg(started.pid, signal.SIGKILL)
    else:
        started.kill()  # without the process group: a `docker compose` it waits for survives
    started.wait()
    eventually(lambda: not processes_of(started, tmp_path), "its processes to be gone")
    assert resources_of_run(started.pid) == []
    assert not list((tmp_path / "runs").glob("*/work"))


def test_ctrl_c_removes_everything(started: subprocess.Popen[bytes], tmp_path: Path) -> None:
    eventually(lambda: len(resources_of_run(started.pid)) == 13, "everything to be there")
    started.send_signal(signal.SIGINT)
    assert started.wait(120) == 130, (tmp_path / "out").read_text()
    assert resources_of_run(started.pid) == []
    assert processes_of(started, tmp_path) == []


def test_sweep_removes_only_resources_of_dead_runs_on_this_machine() -> None:
    from onceproof.harness.processes.sweep import new_marker
    from onceproof.harness.stage import docker_sweep
    from onceproof.harness.tools.docker_engine import connect

    dead, running = "999999-1-ff", new_marker()
    here, elsewhere = where(), "somewhere-else"
    created = {}
    try:
        for marker, place in ((dead, here), (running, here), (f"{dead}e", elsewhere)):
            labels = ("--label", f"{LABEL}={marker}", "--label", f"onceproof.where={place}")
            for kind in ("volume", "network"):
                docker(kind, "create", *labels, f"onceproof-test-{marker}")
            created[marker] = labelled_resources(marker)
            assert len(created[marker]) == 2
        (found,) = docker_sweep.sweep(connect())
        assert found.marker == dead
        assert len(found.processes) == 2
        assert labelled_resources(dead) == []
        assert labelled_resources(running) == created[running]
        assert labelled_resources(f"{dead}e") == created[f"{dead}e"]
    finally:
        for marker in created:
            for kind in ("volume", "network"):
                subprocess.run(["docker", kind, "rm", f"onceproof-test-{marker}"],
                               capture_output=True)  # fmt: skip
