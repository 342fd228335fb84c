"""Keep a user's command running."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.subjects.supervisor import FailsInARow, Supervisor

_LOOK_EVERY: Final = 0.2


def keep_running(
    name: str,
    command: Sequence[str],
    *,
    processes: Processes,
    environment: Mapping[str, str],
    folder: Path,
    progress: Callable[[], int],
    began: Callable[[Process], None] = lambda _: None,
) -> Supervisor:
    """Return a supervisor that restarts the command until it fails repeatedly without progress.

    Args:
        progress: a number that changes when the command makes progress.
        began: called with each new process.
    """

    def begin(_: str) -> Process:
        process = processes.start(name, command, environment=environment, folder=folder)
        began(process)
        return process

    policy = partial(FailsInARow, name, progress)
    return Supervisor([name], begin, gives_up=policy, every=_LOOK_EVERY)
