"""What a page of a matrix tells: plain data, from the reports of its runs.

A run that left no report, or did not come to its end, is shown as such. It is
never as expected, and nothing is guessed of its claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from onceproof.reports.runs.claims import ClaimResult


class State(StrEnum):
    """What became of one scenario on one backend."""

    RUN = "run"
    REUSED = "reused"
    """Its report was there from an earlier run by the same code."""
    FAILED = "failed"
    """It ended without a report, or had to be ended."""
    WAITING = "not run"
    LEFT_OUT = "left out"
    """The backend does not offer what it needs."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One scenario on one backend.

    Attributes:
        scenario: its name.
        title: its story in one sentence.
        subject: what is on trial.
        kinds: of its faults.
        backend: what the stage is made of.
        state: what became of it.
        claims: what its report says of each claim.
        seconds: how long the run took.
        report: where its report lies, as the page links it.
        remark: why there is no report, why it does not count, or what else to know of it.
    """

    scenario: str
    title: str
    subject: str
    kinds: tuple[str, ...]
    backend: str
    state: State = State.WAITING
    claims: tuple[ClaimResult, ...] = ()
    seconds: float | None = None
    report: str | None = None
    remark: str | None = None

    @property
    def judged(self) -> bool:
        """Whether there is a report that counts."""
        return self.state in (State.RUN, State.REUSED)

    @property
    def expected(self) -> bool:
        """Whether every claim came out as it should."""
        return self.judged and bool(self.claims) and all(c.expected for c in self.claims)


@dataclass(frozen=True, kw_only=True)
class Backend:
    """A backend that was asked for.

    Attributes:
        name: its name.
        missing: why it could not be had, if it could not.
    """

    name: str
    missing: str | None = None


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Everything on the page.

    Attributes:
        trials: in the order of `onceproof list`, backend by backend.
        backends: those that were asked for.
        seed: of all runs.
        scope: which scenarios, such as «Every scenario».
        at_once: how many runs at a time.
        started_at: wall clock, UTC, ISO 8601.
        seconds: how long it took so far.
        versions: of our code and of what it ran on.
        host: cores, memory and kernel.
        repeat: the command that does the same again.
    """

    trials: tuple[Trial, ...]
    backends: tuple[Backend, ...]
    seed: int
    scope: str
    at_once: int
    started_at: str
    seconds: float
    repeat: str
    versions: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, str] = field(default_factory=dict)

    @property
    def wanted(self) -> tuple[Trial, ...]:
        """The trials that are to be run: those that are not left out."""
        return tuple(trial for trial in self.trials if trial.state is not State.LEFT_OUT)

    def all_of(self, state: State) -> tuple[Trial, ...]:
        """The trials of which this became."""
        return tuple(trial for trial in self.trials if trial.state is state)
