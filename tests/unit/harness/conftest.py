"""Fixtures that start processes and end them with the test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.wait import wait_until

READY = "print('ready', flush=True)\n"


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    logs = tmp_path / "logs"
    logs.mkdir()
    changes: list[tuple[str, str | None]] = []
    # With a marker of this process, sweeps of other runs do not end these.
    made = Processes(new_marker(), logs, lambda p: changes.append((p.instance, p.how)))
    made.changes = changes  # type: ignore[attr-defined]
    yield made
    made.kill_all("the test is over")


@pytest.fixture
def start(processes: Processes) -> Callable[..., Process]:
    """Start a Python program and wait until it has printed `ready`."""

    def started(program: str, name: str = "thing") -> Process:
        process = processes.start(name, [sys.executable, "-I", "-S", "-c", program])
        wait_until(
            lambda: "ready" in process.tail(), what=f"{name} to be ready", seconds=20,
            seen=process.tail,
        )  # fmt: skip
        return process

    return started
