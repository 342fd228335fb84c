"""A stage in containers for tests, and a look at the engine with means of our own."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.links.blocks import take_block
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.stage import backends
from onceproof.harness.stage.base import Stage
from onceproof.harness.stage.docker_reaper import LABEL
from onceproof.harness.wait import Stop


@dataclass(frozen=True, kw_only=True)
class Contained:
    """A stage that is up, and what belongs to it."""

    stage: Stage
    processes: Processes
    lives: list[tuple[str, str | None]]
    """(instance, how it ended or None) of every beginning and end, in order."""

    still = "the engine reports it as paused"
    """What the stage sees of a broker that stands still."""

    def instance(self, node: str) -> str:
        """The newest life of a node."""
        return next(instance for instance, _ in reversed(self.lives) if instance.startswith(node))

    def ended(self, instance: str) -> str | None:
        """How a life ended; None while it lasts."""
        return next(how for told, how in reversed(self.lives) if told == instance)

    def stands_still(self, node: str) -> bool:
        """Whether the command lists a node as paused."""
        paused = docker("ps", "--filter", "status=paused", "--format", "{{.Names}}").splitlines()
        return any(name.endswith(f"-{node}-1") for name in paused)

    @property
    def logs(self) -> Path:
        return self.processes.logs


@contextlib.contextmanager
def contained(folder: Path) -> Iterator[Contained]:
    """Start a stage; whatever happens to this process, nothing of it stays behind."""
    (folder / "logs").mkdir(parents=True)
    lives: list[tuple[str, str | None]] = []
    processes = Processes(
        new_marker(), folder / "logs", lambda life: lives.append((life.instance, life.how))
    )
    block = take_block()
    stage = backends.new_stage(
        "docker", tools=None, processes=processes, work=folder / "work", block=block, stop=Stop()
    )
    try:
        stage.start()
        yield Contained(stage=stage, processes=processes, lives=lives)
    finally:
        stage.stop()
        block.release()


def labelled(marker: str = "") -> list[str]:
    """Containers, networks and volumes with our label, of one run or of all, as `docker` tells."""
    wanted = f"label={LABEL}={marker}" if marker else f"label={LABEL}"
    found = []
    for listing in (["ps", "--all"], ["network", "ls"], ["volume", "ls"]):
        command = ["docker", *listing, "--quiet", "--filter", wanted]
        found += subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return found


def of_run(process: int) -> list[str]:
    """What a run has in the engine, by the process id that its marker begins with."""
    found = []
    for listing in (["ps", "--all"], ["network", "ls"], ["volume", "ls"]):
        shown = docker(*listing, "--filter", f"label={LABEL}", "--format", "{{.Labels}}")
        found += [line for line in shown.splitlines() if f"{LABEL}={process}-" in line]
    return found


def docker(*arguments: str) -> str:
    """What the command says."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
