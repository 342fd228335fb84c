"""A local stage without a run, for measurements and tests.

As in a run, nothing of the stage outlives this process, however it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.links.blocks import Block, take_block
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.processes.watchdog import Watchdog
from onceproof.harness.queues.base import Queues
from onceproof.harness.stage.backends import BROKERS
from onceproof.harness.stage.local import LocalStage
from onceproof.harness.stage.security import Security
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Stop


@dataclass(frozen=True, kw_only=True)
class Alone:
    """A running stage with its processes and address block."""

    stage: LocalStage
    processes: Processes
    block: Block
    stop: Stop


@contextmanager
def alone(
    folder: Path,
    tools: StageTools,
    *,
    brokers: int = BROKERS,
    queues: Queues | None = None,
    http: HttpSettings | None = None,
    secured: Callable[[str], Security] | None = None,
) -> Iterator[Alone]:
    """Start a stage with its logs and data in `folder`; `secured` takes the run's marker."""
    for part in ("logs", "work"):
        (folder / part).mkdir(parents=True)
    marker, block, stop = new_marker(), take_block(), Stop()
    processes = Processes(marker, folder / "logs")
    stage = LocalStage(
        tools=tools,
        processes=processes,
        work=folder / "work",
        block=block,
        stop=stop,
        brokers=brokers,
        queues=queues,
        http=http,
        security=None if secured is None else secured(marker),
    )
    watchdog = Watchdog(
        marker,
        log=folder / "reaper.log",
        holds=[block.fileno()],
        remove=[folder / "work", *stage.scratch],
    )
    try:
        stage.start()
        yield Alone(stage=stage, processes=processes, block=block, stop=stop)
    finally:
        stage.stop()
        watchdog.release()
        block.release()
