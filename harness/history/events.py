"""The stream of typed events that a run emits; every output is a handler of it.

A handler gets each event once, in order, on the thread that emitted it, and
must not block. `at` is the monotonic clock of the harness, in nanoseconds.
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
    """A phase is over; outcome is ok, failed, stalled, held-back or interrupted."""

    phase: str
    outcome: str
    detail: str | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Progress(Event):
    """How far the workload is: acknowledged records of all; and the pipeline, in its own words."""

    acknowledged: int
    total: int
    pipeline: str | None


@dataclass(frozen=True, kw_only=True)
class FaultChanged(Event):
    """A fault went to a new state: armed, injected, took effect, healed or failed."""

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
class InstanceChanged(Event):
    """A process of the stage or the subject started or ended."""

    instance: str
    state: str


@dataclass(frozen=True, kw_only=True)
class Judged(Event):
    """The checkers have spoken."""

    judgement: Judgement


@dataclass(frozen=True, kw_only=True)
class ReportWritten(Event):
    """The report lies there."""

    html: Path
    json: Path


@dataclass(frozen=True, kw_only=True)
class RunEnded(Event):
    """The run is over, everything of it is gone from the machine."""

    folder: Path
    exit_code: int
    seconds: float
    message: str | None = None


Handler = Callable[[Event], None]
