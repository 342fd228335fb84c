"""The result of comparing two runs, as plain data for terminal, page and JSON.

"perhaps new" and "perhaps gone" are separate statuses: one run found it, and the other could not
have seen it. `because` says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import PlainSerializer

from onceproof.checkers.model import Hop, Verdict
from onceproof.reports.diff.listing import Key
from onceproof.reports.model import Value

ALONE: Final = "without a related hazard"
"""The shape of findings without any known hazard beside them."""


class Status(StrEnum):
    """How a finding changed from A to B."""

    NEW = "new"
    PERHAPS_NEW = "perhaps new"
    STILL_THERE = "still there"
    PERHAPS_GONE = "perhaps gone"
    GONE = "gone"


class Change(StrEnum):
    """How a claim changed from A to B."""

    WORSE = "worse"
    """It is violated or stalled in B and was not in A."""
    UNEXPECTED = "not as expected any more"
    LESS_KNOWN = "less is known"
    """B says less about it than A, which does not make it better."""
    BETTER = "better"
    """It was violated or stalled in A and holds in B."""
    MORE_KNOWN = "more is known"
    """B says more about it than A."""
    OTHER = "other"
    """It is undecided in both, in different ways."""
    SAME = "same"
    ONLY_A = "only in A"
    ONLY_B = "only in B"


class Outcome(StrEnum):
    """The overall result of a comparison."""

    NEW = "something new"
    OPEN = "cannot be told"
    NOTHING_NEW = "nothing new"
    NOT_COMPARABLE = "cannot be compared"


@dataclass(frozen=True, kw_only=True)
class ClaimVerdict:
    """What one run says about a claim."""

    verdict: Verdict
    reason: str
    refuted_by: tuple[str, ...]
    expected: bool | None


@dataclass(frozen=True, kw_only=True)
class ClaimPair:
    """A claim in both runs.

    Attributes:
        name: the claim's name, with its view if the name is not unique.
        a: what A says; None if A does not have the claim.
        b: the same for B.
    """

    name: str
    change: Change
    a: ClaimVerdict | None
    b: ClaimVerdict | None


@dataclass(frozen=True, kw_only=True)
class Record:
    """One finding, identified by what was sent.

    Attributes:
        because: why the status is only "perhaps".
        sentence: from the run that found it; from B if both did.
    """

    key: Annotated[Key, PlainSerializer(dict, return_type=dict[str, Value])]
    status: Status
    because: str | None
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Findings with the same hazards and faults beside them, and their number in each run."""

    says: str
    a: int
    b: int


@dataclass(frozen=True, kw_only=True)
class Amount:
    """The number of findings in a run.

    Attributes:
        count: in this place; None if only the total over all places is known.
        total: in all places.
    """

    count: int | None
    listed: int
    total: int


@dataclass(frozen=True, kw_only=True)
class FoundPair:
    """One anomaly in one place, in both runs.

    Attributes:
        place: the topic, or the sink and its view.
        because: why the status is only "perhaps".
        records: findings one by one, if both runs were sent the same records.
    """

    anomaly: str
    hop: Hop
    place: str
    status: Status
    because: str | None
    a: Amount
    b: Amount
    records: tuple[Record, ...]
    shapes: tuple[Shape, ...]

    def of(self, status: Status) -> tuple[Record, ...]:
        return tuple(record for record in self.records if record.status is status)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A difference between the runs themselves that may explain the rest."""

    section: str
    name: str
    a: str | None
    b: str | None


@dataclass(frozen=True, kw_only=True)
class SideInfo:
    """One of the two runs, for a heading."""

    name: str
    page: str | None
    limits: str | None
    """Why the absence of a finding in this run proves nothing."""


@dataclass(frozen=True, kw_only=True)
class Diff:
    """The comparison of run `b` with the earlier or reference run `a`.

    Attributes:
        by_record: whether findings were compared record by record; `by_why` says why.
        claims: the claims of both, in A's order.
        findings: by anomaly and place, new ones first.
        known: whether both record their versions, settings and faults.
    """

    a: SideInfo
    b: SideInfo
    by_record: bool
    by_why: str
    outcome: Outcome
    claims: tuple[ClaimPair, ...]
    findings: tuple[FoundPair, ...]
    differences: tuple[Difference, ...]
    known: bool
