"""What an index tells of its runs: plain data, a little of each report.

A run that did not come to its end is neither as expected nor unexpected,
unless it proved a violation that nobody expected. Nothing is guessed of a folder that cannot be
read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from onceproof.checkers.model import Verdict
from onceproof.reports.runs.claims import ClaimResult


class RunState(StrEnum):
    """What became of a run."""

    EXPECTED = "as expected"
    UNEXPECTED = "not as expected"
    UNFINISHED = "not finished"
    UNJUDGED = "nothing was judged"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run, as its report tells it.

    Attributes:
        folder: where it lies.
        page: its report to read; None where there is none.
        scenario: its scenario's name.
        title: the scenario in a sentence.
        subject: what was on trial.
        own: the command of somebody's own pipeline; None for a scenario of ours.
        backend: what the stage was made of.
        seed: of the run.
        started_at: wall clock, UTC, ISO 8601.
        seconds: how long it took.
        kinds: of its faults.
        faults: their names, in order.
        claims: what it says of each.
        verdict: of the claim that its headline speaks of.
        finished: whether it came to its end.
        code: by which code it was made; None where that was not recorded.
        setup: a sum of everything that two runs must share to be called the same.
    """

    folder: Path
    page: Path | None
    scenario: str
    title: str
    subject: str
    own: str | None
    backend: str
    seed: int
    started_at: str
    seconds: float | None
    kinds: tuple[str, ...]
    faults: tuple[str, ...]
    claims: tuple[ClaimResult, ...]
    verdict: Verdict | None
    finished: bool
    code: str | None
    setup: str

    @property
    def state(self) -> RunState:
        """What became of it."""
        if not self.claims:
            return RunState.UNJUDGED if self.finished else RunState.UNFINISHED
        wrong = [claim for claim in self.claims if not claim.expected]
        if not self.finished and all(c.verdict is not Verdict.VIOLATED for c in wrong):
            return RunState.UNFINISHED
        return RunState.UNEXPECTED if wrong else RunState.EXPECTED


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A folder that is a run's and tells nothing.

    Attributes:
        folder: where it lies.
        reason: why it tells nothing, and what to do.
        scenario: its scenario's name, where that is known.
    """

    folder: Path
    reason: str
    scenario: str | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """Everything that was found in the folders that were given.

    Attributes:
        runs: those that left a report, the newest first.
        unread: those that cannot.
    """

    runs: tuple[Run, ...]
    unread: tuple[Unread, ...]
