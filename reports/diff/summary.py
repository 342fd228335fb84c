"""Summarise a `Diff`, and format the parts that terminal and page share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from onceproof.checkers.model import Verdict
from onceproof.reports.diff.model import (
    ALONE,
    Amount,
    Change,
    ClaimPair,
    Diff,
    Difference,
    FoundPair,
    Outcome,
    Shape,
    Status,
)
from onceproof.reports.text import listed, number, plural

BAD: Final = frozenset({Status.NEW, Change.WORSE, Change.UNEXPECTED})
GOOD: Final = frozenset({Status.GONE, Change.BETTER})
OPEN: Final = frozenset(
    {
        Status.PERHAPS_NEW,
        Status.PERHAPS_GONE,
        Change.LESS_KNOWN,
        Change.ONLY_A,
        Change.ONLY_B,
        Change.OTHER,
    }
)
TIMING: Final = (
    "Which records a fault hits also depends on timing: --by anomaly does not compare records."
)
UNKNOWN: Final = (
    "The versions, settings and faults of at least one side are unknown: a judgement does not "
    "contain them."
)
_HEADS: Final = {
    Outcome.NEW: "B has new findings",
    Outcome.OPEN: "Nothing in B is certainly new, but not everything could be compared",
    Outcome.NOTHING_NEW: "Nothing in B is new",
    Outcome.NOT_COMPARABLE: "A and B cannot be compared",
}
_TONES: Final = {
    Outcome.NEW: Verdict.VIOLATED,
    Outcome.OPEN: Verdict.UNKNOWN,
    Outcome.NOTHING_NEW: Verdict.HOLDS,
    Outcome.NOT_COMPARABLE: Verdict.INVALID,
}


def headline(diff: Diff) -> str:
    if diff.outcome is Outcome.NOT_COMPARABLE:
        return f"{_HEADS[diff.outcome]}: {why_not(diff)}"
    new = any(
        Status.NEW in (pair.status, *(r.status for r in pair.records)) for pair in diff.findings
    )
    head = _HEADS[diff.outcome]
    if diff.outcome is Outcome.NEW and not new:
        head = "B is worse than A"
    return f"{head}: {', '.join([*_claims(diff), *_findings(diff)])}"


def why_not(diff: Diff) -> str:
    without = [
        which
        for which, none in (
            ("A", all(pair.a is None for pair in diff.claims)),
            ("B", all(pair.b is None for pair in diff.claims)),
        )
        if none
    ]
    if without:
        return f"no claim was judged in {listed(without)}"
    return "their claims have no topic and no sink in common"


def tone(diff: Diff) -> str:
    return _TONES[diff.outcome]


def amount(found: Amount) -> str:
    """Format the number of findings that a run has in a place."""
    if found.count is not None:
        return number(found.count)
    at_least = f"at least {number(found.listed)}" if found.listed else "none listed"
    return f"{at_least} ({number(found.total)} in all places)"


@dataclass(frozen=True, kw_only=True)
class StatusGroup:
    """Records of one anomaly in one place with the same status for the same reason."""

    status: Status
    because: str | None
    names: tuple[str, ...]
    sentences: tuple[str, ...]


def status_groups(pair: FoundPair) -> tuple[StatusGroup, ...]:
    """Group the records of an anomaly by status and reason."""
    order = list(Status)
    records = sorted(pair.records, key=lambda r: (order.index(r.status), r.because or ""))
    return tuple(
        StatusGroup(
            status=status,
            because=because,
            names=tuple(" ".join(str(v) for c, v in r.key if _distinguishes(c, v)) for r in same),
            sentences=tuple(r.sentence for r in same),
        )
        for (status, because), group in groupby(records, key=lambda r: (r.status, r.because))
        if (same := list(group))
    )


def not_listed(pair: FoundPair) -> str | None:
    """Say how many findings are not listed, so that their records could not be compared."""
    parts = [
        f"{side} lists {number(found.listed)} of {number(found.total)}"
        for side, found in (("A", pair.a), ("B", pair.b))
        if found.total > found.listed and (found.count is None or found.count > found.listed)
    ]
    return listed(parts) if parts else None


def shapes(pair: FoundPair) -> tuple[Shape, ...]:
    """Return the shapes; nothing if no finding has a known hazard beside it."""
    return () if [shape.says for shape in pair.shapes] == [ALONE] else pair.shapes


def sections(diff: Diff) -> Iterator[tuple[str, tuple[Difference, ...]]]:
    for section, group in groupby(diff.differences, key=lambda difference: difference.section):
        yield section, tuple(group)


def reasons(pair: ClaimPair) -> tuple[tuple[str, str], ...]:
    """Return each run's reason for its verdict, if the claim changed."""
    if pair.change is Change.SAME:
        return ()
    return tuple((name, claim.reason) for name, claim in (("A", pair.a), ("B", pair.b)) if claim)


def _claims(diff: Diff) -> Iterator[str]:
    changes = Counter(pair.change for pair in diff.claims)
    for change in Change:
        if changes[change]:
            yield f"{plural(changes[change], 'claim')} {_change_label(change)}"


def _change_label(change: Change) -> str:
    if change in (Change.LESS_KNOWN, Change.MORE_KNOWN):
        return f"of which {change}"
    return "undecided differently" if change is Change.OTHER else str(change)


def _findings(diff: Diff) -> Iterator[str]:
    statuses = Counter(pair.status for pair in diff.findings)
    records = Counter(r.status for pair in diff.findings for r in pair.records)
    for status in Status:
        if statuses[status]:
            yield f"{plural(statuses[status], 'anomaly', 'anomalies')} {status}"
    if (new := records[Status.NEW]) and not statuses[Status.NEW]:
        yield f"{plural(new, 'record')} newly affected"


def _distinguishes(column: str, value: object) -> bool:
    return column not in ("topic", "sink", "view") and value not in (None, "")
