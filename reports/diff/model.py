"""What two runs beside each other come to: plain data that every teller reads.

«perhaps» is a status of its own. What one run found and the other could not
have seen is neither new nor gone, and says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import PlainSerializer

from onceproof.checkers.model import Hop, Verdict
from onceproof.reports.diff.listing import Key
from onceproof.reports.model import Value

ALONE: Final = "with no hazard beside"
"""What a finding came with of which nothing is known to have come with it."""


class Status(StrEnum):
    """What became of something that was found."""

    NEW = "new"
    PERHAPS_NEW = "perhaps new"
    STILL_THERE = "still there"
    PERHAPS_GONE = "perhaps gone"
    GONE = "gone"


class Change(StrEnum):
    """What became of a claim."""

    WORSE = "worse"
    """It is violated, or stalled, and was not."""
    UNEXPECTED = "not as expected any more"
    LESS_KNOWN = "less is known"
    """Something was said of it, and less is now; that it is better nobody knows."""
    BETTER = "better"
    """It holds and did not."""
    MORE_KNOWN = "more is known"
    """Nothing could be said of it, and something can now."""
    OTHER = "other"
    """It is undecided in another way."""
    SAME = "same"
    ONLY_A = "only in A"
    ONLY_B = "only in B"


class Outcome(StrEnum):
    """What it all comes to."""

    NEW = "something new"
    OPEN = "cannot be told"
    NOTHING_NEW = "nothing new"
    NOT_COMPARABLE = "cannot be compared"


@dataclass(frozen=True, kw_only=True)
class Told:
    """What one run says of a claim."""

    verdict: Verdict
    reason: str
    refuted_by: tuple[str, ...]
    expected: bool | None


@dataclass(frozen=True, kw_only=True)
class ClaimPair:
    """A claim in both runs.

    Attributes:
        name: of the claim; with its view where that is needed to tell it from another.
        change: what became of it.
        a: what A says; None if A does not have it.
        b: what B says; None if B does not have it.
    """

    name: str
    change: Change
    a: Told | None
    b: Told | None


@dataclass(frozen=True, kw_only=True)
class Record:
    """One finding by the identity of what was sent.

    Attributes:
        key: what names it.
        status: what became of it.
        because: why it is only perhaps so.
        sentence: what the run says that found it; B if both did.
    """

    key: Annotated[Key, PlainSerializer(dict, return_type=dict[str, Value])]
    status: Status
    because: str | None
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Findings that are alike: they came with the same hazards and faults.

    Attributes:
        says: the hazards and faults.
        a: how many of those that A lists.
        b: how many of those that B lists.
    """

    says: str
    a: int
    b: int


@dataclass(frozen=True, kw_only=True)
class Amount:
    """How many findings there are and how many a run lists.

    Attributes:
        count: in this place; None where the run only knows of all places together.
        listed: how many of them the run lists.
        total: in all places.
    """

    count: int | None
    listed: int
    total: int


@dataclass(frozen=True, kw_only=True)
class FoundPair:
    """One anomaly in one place, in both runs.

    Attributes:
        anomaly: its name.
        hop: where it belongs.
        place: the topic, or the sink as somebody sees it.
        status: what became of it.
        because: why it is only perhaps so.
        a: how many A has.
        b: how many B has.
        records: one by one, where both runs were sent the same records.
        shapes: those that are alike, together.
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
        """The records of which this became."""
        return tuple(record for record in self.records if record.status is status)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Something about the runs themselves that differs and may explain the rest."""

    section: str
    name: str
    a: str | None
    b: str | None


@dataclass(frozen=True, kw_only=True)
class Which:
    """One of the two runs, for a heading."""

    name: str
    page: str | None
    limits: str | None
    """Why what it does not have proves nothing."""


@dataclass(frozen=True, kw_only=True)
class Diff:
    """Everything that is told of two runs.

    Attributes:
        a: the earlier one, or the one that was as wanted.
        b: the other.
        by_record: whether findings were compared record by record.
        by_why: why so, in a sentence.
        outcome: what it comes to.
        claims: of both, in A's order.
        findings: by anomaly and place, what is new first.
        differences: what differs in the circumstances.
        known: whether both say how they came about, with which versions, settings and faults.
    """

    a: Which
    b: Which
    by_record: bool
    by_why: str
    outcome: Outcome
    claims: tuple[ClaimPair, ...]
    findings: tuple[FoundPair, ...]
    differences: tuple[Difference, ...]
    known: bool
