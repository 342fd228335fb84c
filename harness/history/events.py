"""The typed events that a run emits; every output is a handler of this stream.

A handler gets each event once, in order, on the thread that emitted it, and must not block. `at` is
the monotonic clock of the harness, in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from onceproof.checkers.model import Judgement


@dataclass(frozen=True, kw_only=True)
class Event:
    """Anything that happened in a run."""

    at: int


@dataclass(frozen=True, kw_only=True)
class RunStarted(Event):
    """A run has its folder and its seed."""

    run: str
    folder: Path
    scenario: str
    title: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class PhaseStarted(Event):
    """A phase of the run begins."""

    phase: str


@dataclass(frozen=True, kw_only=True)
class PhaseEnded(Event):
    """A phase ended; outcome is ok, failed, stalled, held-back or interrupted."""

    phase: str
    outcome: str
    detail: str | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Progress(Event):
    """How many records are acknowledged, and how the pipeline describes its progress."""

    acknowledged: int
    total: int
    pipeline: str | None


@dataclass(frozen=True, kw_only=True)
class FaultChanged(Event):
    """A fault changed its state, for instance to armed, injected, took effect, healed or failed."""

    fault: str
    kind: str
    state: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class HazardObserved(Event):
    """Something put a claim to the test."""

    hazard: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class NoteWritten(Event):
    """The user of a lab wrote a note."""

    text: str


@dataclass(frozen=True, kw_only=True)
class InstanceChanged(Event):
    """A process of the stage or the subject started or ended."""

    instance: str
    state: str


@dataclass(frozen=True, kw_only=True)
class Judged(Event):
    """The checkers have judged the run."""

    judgement: Judgement


@dataclass(frozen=True, kw_only=True)
class ReportWritten(Event):
    """The report was written."""

    html: Path
    json: Path


@dataclass(frozen=True, kw_only=True)
class RunEnded(Event):
    """The run is over and has left no processes behind."""

    folder: Path
    exit_code: int
    seconds: float
    message: str | None = None


Handler = Callable[[Event], None]
