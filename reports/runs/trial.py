"""A matrix as plain data, taken from the reports of its runs.

A run without a report, or one that did not finish, is shown as such and is never as expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from onceproof.reports.runs.claims import ClaimResult


class State(StrEnum):
    """The state of one scenario on one backend."""

    RUN = "run"
    REUSED = "reused"
    """Its report existed already, from a run of the same code."""
    FAILED = "failed"
    """It ended without a report, or was killed."""
    WAITING = "not run"
    LEFT_OUT = "left out"
    """The backend lacks something that it needs."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One scenario on one backend.

    Attributes:
        kinds: of its faults.
        seconds: duration of the run.
        report: link to its report, from the page.
        remark: why there is no report, why it does not count, or another note.
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
        """Whether every claim has the expected result; False if none was judged."""
        return self.judged and bool(self.claims) and all(c.expected for c in self.claims)


@dataclass(frozen=True, kw_only=True)
class Backend:
    """A requested backend; `missing` says why it is not available."""

    name: str
    missing: str | None = None


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Everything on the page of a matrix.

    Attributes:
        trials: in the order of `onceproof list`, backend by backend.
        scope: which scenarios, such as "Every scenario".
        at_once: maximum number of concurrent runs.
        started_at: wall clock, UTC, ISO 8601.
        seconds: duration so far.
        versions: of onceproof and of the software it ran on.
        host: cores, memory and kernel.
        repeat: the command that repeats it.
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
        """The trials to run: all that are not left out."""
        return tuple(trial for trial in self.trials if trial.state is not State.LEFT_OUT)

    def all_of(self, state: State) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if trial.state is state)
