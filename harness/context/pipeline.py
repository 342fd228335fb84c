"""The interface of a pipeline under test, for any framework.

It is observed from outside or through its own commits, so that the same code warms up, settles and
collects Spark, a consumer group or anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.processes.processes import Processes
from onceproof.harness.sinks.base import Sink
from onceproof.harness.stage.base import Stage
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop

Positions = Mapping[tuple[str, int], int]
"""(topic, partition) → offset of the next record to read."""


class PipelineTrouble(RuntimeError):
    """The pipeline ended or stopped making progress; the text has its last output."""


class WatchTrouble(RuntimeError):
    """Watching a pipeline failed, which says nothing about the pipeline itself."""

    def __init__(self, folder: Path, error: Exception) -> None:
        super().__init__(f"watching {folder} failed: {type(error).__name__}: {error}")


@dataclass(frozen=True, kw_only=True)
class PipelineParts:
    """The parts from which a pipeline is built.

    Attributes:
        processes: starts its processes, so that none outlives the run.
        address: a loopback address that only this run uses.
    """

    stage: Stage
    tools: Tools
    processes: Processes
    work: Path
    history: Path
    address: str
    topic: str
    seed: int
    stop: Stop


class Pipeline(Protocol):
    """A pipeline under test."""

    @property
    def commits(self) -> int:
        """A number that grows with every commit seen."""

    @property
    def counted(self) -> str:
        """What `commits` counts, for messages."""

    @property
    def awaited(self) -> str:
        """What shows that records flow, for messages."""

    def start(self) -> None:
        """Start every process of it that does not run."""

    def alive(self) -> bool:
        """Return whether any process of it runs."""

    def check(self) -> None:
        """Raise `PipelineTrouble` if a process of it ended by itself."""

    def flows(self) -> bool:
        """Return whether records have passed through it."""

    def shortly(self) -> str | None:
        """Describe its progress in two or three words; None while there is none."""

    def positions(self) -> Positions | None:
        """Return its committed offsets; None before its first commit."""

    def idle(self) -> bool:
        """Return whether it has no uncommitted work."""

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """Write what only the pipeline knows; `recorded` is the history of the run so far."""

    def close(self) -> None:
        """Stop watching it; its processes are ended elsewhere."""


@runtime_checkable
class IdleByOutputs(Protocol):
    """A pipeline whose idleness is visible only in its outputs."""

    @property
    def rest(self) -> float:
        """Maximum seconds between two writes of a working pipeline."""

    def rests(self) -> bool:
        """Return whether it is done, or has written nothing for `rest` seconds."""

    def reached(self) -> int:
        """Return how many inputs have their effects; 0 if that cannot be read now."""

    def holds_back(self) -> str | None:
        """Return why missing effects may still come; None if it ended or has unread input."""


class NoPipeline:
    """Placeholder without a pipeline: always idle, with nothing to commit."""

    commits = 0
    counted = "commits of the pipeline"
    awaited = "nothing"

    def start(self) -> None:
        pass

    def alive(self) -> bool:
        return False

    def check(self) -> None:
        pass

    def flows(self) -> bool:
        return True

    def shortly(self) -> str | None:
        return None

    def positions(self) -> Positions | None:
        return None

    def idle(self) -> bool:
        return True

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        pass

    def close(self) -> None:
        pass
