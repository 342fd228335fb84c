"""A stage in containers, and queries of the engine that bypass the product code."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onceproof.harness.links.blocks import take_block
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.stage import backends
from onceproof.harness.stage.base import Stage
from onceproof.harness.stage.docker_reaper import LABEL
from onceproof.harness.wait import Stop


@dataclass(frozen=True, kw_only=True)
class ContainerStage:
    """A running stage with its processes and their lives."""

    stage: Stage
    processes: Processes
    lives: list[tuple[str, str | None]]
    """(instance, how it ended or None) of every start and end, in order."""

    still = "the engine reports it as paused"
    """What the stage reports of a paused broker."""

    def instance(self, node: str) -> str:
        """The newest instance of a node."""
        return next(instance for instance, _ in reversed(self.lives) if instance.startswith(node))

    def ended(self, instance: str) -> str | None:
        """How an instance ended; None while it runs."""
        return next(how for name, how in reversed(self.lives) if name == instance)

    def stands_still(self, node: str) -> bool:
        """Whether `docker ps` lists a node as paused."""
        paused = docker("ps", "--filter", "status=paused", "--format", "{{.Names}}").splitlines()
        return any(name.endswith(f"-{node}-1") for name in paused)

    @property
    def logs(self) -> Path:
        return self.processes.logs


@contextlib.contextmanager
def container_stage(folder: Path, **wanted: Any) -> Iterator[ContainerStage]:
    """Run a stage for the duration of the block; `wanted`: as for `new_stage`."""
    (folder / "logs").mkdir(parents=True)
    lives: list[tuple[str, str | None]] = []
    processes = Processes(
        new_marker(), folder / "logs", lambda life: lives.append((life.instance, life.how))
    )
    block = take_block()
    stage = backends.new_stage(
        "docker", tools=None, processes=processes, work=folder / "work", block=block, stop=Stop(),
        **wanted,
    )  # fmt: skip
    try:
        stage.start()
        yield ContainerStage(stage=stage, processes=processes, lives=lives)
    finally:
        stage.stop()
        block.release()


def labelled_resources(marker: str = "") -> list[str]:
    """Ids of the containers, networks and volumes with our label, of one run or of all runs."""
    wanted = f"label={LABEL}={marker}" if marker else f"label={LABEL}"
    found = []
    for listing in (["ps", "--all"], ["network", "ls"], ["volume", "ls"]):
        command = ["docker", *listing, "--quiet", "--filter", wanted]
        found += subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return found


def resources_of_run(process: int) -> list[str]:
    """Labels of a run's containers, networks and volumes; `process` begins its marker."""
    found = []
    for listing in (["ps", "--all"], ["network", "ls"], ["volume", "ls"]):
        shown = docker(*listing, "--filter", f"label={LABEL}", "--format", "{{.Labels}}")
        found += [line for line in shown.splitlines() if f"{LABEL}={process}-" in line]
    return found


def docker(*arguments: str) -> str:
    """The standard output of a `docker` command."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
