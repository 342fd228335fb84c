"""Decide whether a run could have seen an anomaly that it did not find.

A finding is gone only if the other run looked for it in that place, was complete, could decide it,
was a valid test, and observed the same hazards as the run that found it. If any of this is missing,
the reason is given and the finding is not gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from onceproof.checkers.model import Hop, Verdict
from onceproof.reports.diff.listing import Listing
from onceproof.reports.diff.side import Side
from onceproof.reports.diff.watching import by_input, checked_implicitly, watching
from onceproof.reports.model import Claim, Finding
from onceproof.reports.scopes import Scope
from onceproof.reports.text import listed

_UNKNOWN: Final = "unknown hazard"


def blind(side: Side, sought: Listing, needed: frozenset[str]) -> str | None:
    """Return why a run could not have seen what the other found; None if it could.

    Args:
        needed: the hazards that such findings need, from `hazards_of`.
    """
    looking = watching(side, sought.anomaly, sought.evidence, sought.scope)
    if not looking and not checked_implicitly(side, sought.anomaly, sought.scope):
        return f"no claim on {sought.scope.name} checks for it"
    if side.incomplete is not None:
        return side.incomplete
    if any(sought.anomaly in claim.undecided for claim in looking):
        return "it is undecided there: part of the required log is missing"
    if (reason := _untested(side, sought.scope, looking)) is not None:
        return reason
    if missing := sorted(needed - side.observed):
        return f"{listed(missing)} {'was' if len(missing) == 1 else 'were'} not observed there"
    return None


def hazards_of(side: Side, found: Listing, findings: Iterable[Finding]) -> frozenset[str]:
    """Return the hazards beside the findings, and those that the claims they refute require."""
    causes = {cause.hazard for finding in findings for cause in finding.causes}
    required = {
        kind
        for claim in watching(side, found.anomaly, found.evidence, found.scope)
        if found.anomaly in claim.refuted_by
        for kind in claim.hazards_required
        if kind in claim.hazards_seen
    }
    return frozenset((causes | required) - {_UNKNOWN})


def _untested(side: Side, scope: Scope, looking: tuple[Claim, ...]) -> str | None:
    for claims in by_input(looking):
        if any(claim.verdict is Verdict.HOLDS for claim in claims):
            continue  # HOLDS implies the checks below
        if (reason := _doubtful(side, scope, claims)) is not None:
            return reason
    if not looking:
        return _doubtful(side, scope, ())
    return None


def _doubtful(side: Side, scope: Scope, claims: Sequence[Claim]) -> str | None:
    for claim in claims:
        if claim.verdict is not Verdict.VIOLATED:
            return f"{claim.name} is {claim.verdict}: {claim.reason}"
        if missing := sorted(set(claim.hazards_required) - set(claim.hazards_seen)):
            return f"{claim.name} requires {listed(missing)}, which was not observed there"
    if side.flaw is not None:
        return side.flaw
    if not any(hop in (scope.hop, Hop.END_TO_END) for _, hop in side.hazards):
        return f"no hazard was observed on hop {scope.hop}"
    return None
