"""What is known of a pipeline on trial while it runs, whatever it is made of.

Everything here is seen from outside or read from the pipeline's own commits,
so that one code warms up, settles and collects Spark, a consumer group or anything else.
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
"""(topic, partition) → the next offset to be read."""


class PipelineTrouble(RuntimeError):
    """The pipeline ended or stood still; the text has its last output."""


class WatchTrouble(RuntimeError):
    """What we watch a pipeline by has failed, which says nothing of the pipeline."""

    def __init__(self, folder: Path, error: Exception) -> None:
        super().__init__(f"watching {folder} failed: {type(error).__name__}: {error}")


@dataclass(frozen=True, kw_only=True)
class PipelineParts:
    """What a pipeline is made from.

    Attributes:
        processes: starts its processes, so that none is left behind.
        work: a folder of its own, gone with the run.
        address: a loopback address that only this run has.
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
    """A pipeline on trial."""

    @property
    def commits(self) -> int:
        """A number that grows with every commit that is seen."""

    @property
    def counted(self) -> str:
        """What that is a number of, in words."""

    @property
    def awaited(self) -> str:
        """What shows that records flow, in words."""

    def start(self) -> None:
        """Start it, or what of it does not run."""

    def alive(self) -> bool:
        """Whether something of it runs."""

    def check(self) -> None:
        """Raise `PipelineTrouble` if something of it ended by itself."""

    def flows(self) -> bool:
        """Whether records have come through it."""

    def shortly(self) -> str | None:
        """How far it is, in two or three words; None while there is nothing to tell."""

    def positions(self) -> Positions | None:
        """What it has committed; None if that is nothing yet."""

    def idle(self) -> bool:
        """Whether nothing is under way between its reading and its commit."""

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """Write what only it knows: from what was recorded during the run, and from what it left.

        Args:
            writer: takes the rows.
            recorded: the history as it was written while the run lasted.
            sink: where its effects are.
        """

    def close(self) -> None:
        """Let go of what watches it; its processes are ended by others."""


@runtime_checkable
class Rests(Protocol):
    """A pipeline of which only its outputs show whether it has come to rest."""

    @property
    def rest(self) -> float:
        """Seconds for which it may stand still between two writes."""

    def rests(self) -> bool:
        """Whether it has done everything, or has stood still for that long."""

    def reached(self) -> int:
        """How many inputs have their effects; 0 where that cannot be seen now."""

    def holds_back(self) -> str | None:
        """Why effects that are missing may still come; None if it does not even read."""


class NoPipeline:
    """The pipeline where there is none: nobody is behind, and nothing is under way."""

    commits = 0
    counted = "commits of the pipeline"
    awaited = "nothing"

    def start(self) -> None:
        """Nothing to start."""

    def alive(self) -> bool:
        return False

    def check(self) -> None:
        """Nothing can end."""

    def flows(self) -> bool:
        return True

    def shortly(self) -> str | None:
        return None

    def positions(self) -> Positions | None:
        return None

    def idle(self) -> bool:
        return True

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """It left nothing."""

    def close(self) -> None:
        """Nothing watches it."""
