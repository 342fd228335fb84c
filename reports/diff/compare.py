"""Compare two runs and return a `Diff`.

Records are compared one by one only if both runs were sent the same records: same seed and
workload, or one history judged twice. Otherwise a name may mean different records, and anomalies
are compared by place.
"""

from __future__ import annotations

from collections.abc import Iterable

from onceproof.reports.diff.circumstances import VERSIONS, differences
from onceproof.reports.diff.claims import pair_claims
from onceproof.reports.diff.findings import pair_findings
from onceproof.reports.diff.model import (
    Change,
    ClaimPair,
    Diff,
    FoundPair,
    Outcome,
    SideInfo,
    Status,
)
from onceproof.reports.diff.side import Side


def compare(a: Side, b: Side, *, by_record: bool | None = None) -> Diff:
    """Compare run `b` with the earlier or reference run `a`.

    Args:
        by_record: whether to compare record by record. None: if both were sent the same records.
    """
    same, why = same_records(a, b)
    if by_record is not None and by_record is not same:
        same, why = by_record, _as_requested(by_record, why)
    claims = pair_claims(a.claims, b.claims)
    findings = pair_findings(a, b, by_record=same)
    return Diff(
        a=_described(a),
        b=_described(b),
        by_record=same,
        by_why=why,
        outcome=_outcome(a, b, claims, findings),
        claims=claims,
        findings=findings,
        differences=tuple(differences(a.circumstances, b.circumstances)),
        known=all(VERSIONS in side.circumstances for side in (a, b)),
    )


def same_records(a: Side, b: Side) -> tuple[bool, str]:
    """Return whether a name means the same record in both runs, and the reason as a sentence."""
    if a.history is not None and a.history == b.history:
        return True, "Both sides come from the same run."
    if a.sent is None or b.sent is None:
        return (
            False,
            "The workload of at least one side is unknown, so a name may denote another record.",
        )
    if a.sent.seed != b.sent.seed:
        return False, (
            f"The runs had different seeds ({a.sent.seed} and {b.sent.seed}), so a name denotes "
            "another record."
        )
    if a.sent.workload != b.sent.workload:
        return False, "The runs had different workloads, so a name may denote another record."
    if a.sent.workload.get("file") is not None:
        return False, "The runs sent a file, and it is not known whether it was the same file."
    return True, "Both runs sent the same records: same seed, same workload."


def _as_requested(by_record: bool, why: str) -> str:
    if by_record:
        return f"By record, as requested. {why}"
    return "By anomaly, as requested."


def _described(side: Side) -> SideInfo:
    return SideInfo(name=side.name, page=side.page, limits=side.incomplete or side.flaw)


def _outcome(
    a: Side, b: Side, claims: Iterable[ClaimPair], findings: Iterable[FoundPair]
) -> Outcome:
    if not a.scopes & b.scopes:
        return Outcome.NOT_COMPARABLE
    changes = {claim.change for claim in claims}
    found = {pair.status for pair in findings}
    found |= {record.status for pair in findings for record in pair.records}
    if changes & {Change.WORSE, Change.UNEXPECTED} or Status.NEW in found:
        return Outcome.NEW
    less = a.incomplete is None and b.incomplete is not None
    if less or changes & {Change.LESS_KNOWN, Change.ONLY_A} or Status.PERHAPS_NEW in found:
        return Outcome.OPEN
    return Outcome.NOTHING_NEW
