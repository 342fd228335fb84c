"""The runs of an index, as plain data taken from their reports.

An incomplete run is neither as expected nor unexpected, unless it proved an unexpected violation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from onceproof.checkers.model import Verdict
from onceproof.reports.runs.claims import ClaimResult


class RunState(StrEnum):
    """The result of a run, over all its claims."""

    EXPECTED = "as expected"
    UNEXPECTED = "not as expected"
    UNFINISHED = "not finished"
    UNJUDGED = "nothing was judged"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run, from its report.

    Attributes:
        page: its HTML report; None if there is none.
        title: the scenario in one sentence.
        own: the command of a user pipeline; None for a built-in scenario.
        started_at: wall clock, UTC, ISO 8601.
        seconds: duration.
        kinds: of its faults.
        faults: their names, in order.
        verdict: of the claim in its headline.
        finished: whether every phase ended without interruption.
        code: version of the code; None if not recorded.
        setup: hash of everything that must be equal to compare two runs.
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
        if not self.claims:
            return RunState.UNJUDGED if self.finished else RunState.UNFINISHED
        wrong = [claim for claim in self.claims if not claim.expected]
        if not self.finished and all(c.verdict is not Verdict.VIOLATED for c in wrong):
            return RunState.UNFINISHED
        return RunState.UNEXPECTED if wrong else RunState.EXPECTED


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A run folder whose report cannot be read; `reason` says why, and what to do."""

    folder: Path
    reason: str
    scenario: str | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """The run folders that were found: `runs` with a report, newest first, and `unread` ones."""

    runs: tuple[Run, ...]
    unread: tuple[Unread, ...]
