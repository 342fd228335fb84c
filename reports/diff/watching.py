"""Which claims of a run look for an anomaly in a place, and what they say about it.

A judged claim names every anomaly that refutes it. So if an anomaly could refute a claim and the
claim does not name it, it is absent, even if the list of findings was cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from onceproof.checkers.model import Evidence, Hop, Verdict
from onceproof.checkers.refutations import refutations, shown_with
from onceproof.reports.diff.side import Side
from onceproof.reports.model import Claim
from onceproof.reports.scopes import Scope, sink_of

_IMPLICIT: Final = "exactly-once"
"""The guarantee by which the produce hop is checked where no claim covers it."""
_BY_KIND: Final = "offset-gap"
"""Only one of its two kinds refutes at-least-once, so its absence from `refuted_by` proves nothing.
"""
_DECIDED: Final = (Verdict.HOLDS, Verdict.UNEXERCISED, Verdict.VIOLATED)
"""Verdicts that name everything found."""


def watching(side: Side, anomaly: str, evidence: Evidence, scope: Scope) -> tuple[Claim, ...]:
    """Return the claims of a run that look for an anomaly in a place."""
    return tuple(
        claim
        for claim in side.claims
        if evidence is Evidence.LIVENESS
        or (_covers(claim, scope) and anomaly in _checked_anomalies(claim.guarantee, claim.hop))
    )


def checked_implicitly(side: Side, anomaly: str, scope: Scope) -> bool:
    """Return whether the anomaly is looked for although no claim asks, because it may explain
    others.
    """
    if scope.hop is not Hop.PRODUCE or scope not in side.scopes:
        return False
    asked = any(_covers(claim, scope) for claim in side.claims)
    return not asked and anomaly in _checked_anomalies(_IMPLICIT, Hop.PRODUCE)


def has_anomaly(side: Side, anomaly: str, scope: Scope) -> bool | None:
    """Return whether a run has an anomaly in a place according to its claims; None if unknown."""
    refutable = [
        claim
        for claim in side.claims
        if _covers(claim, scope) and anomaly in refutations(claim.guarantee, claim.hop)
    ]
    if any(anomaly in claim.refuted_by for claim in refutable):
        return True
    free = [any(_is_free(claim, anomaly) for claim in same) for same in by_input(refutable)]
    return False if free and all(free) else None


def by_input(claims: Iterable[Claim]) -> Iterator[tuple[Claim, ...]]:
    """Group claims by input topic: each topic is judged separately."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.input, []).append(claim)
    yield from map(tuple, found.values())


def _is_free(claim: Claim, anomaly: str) -> bool:
    """Return whether a claim that the anomaly would refute says that it is absent."""
    by_kind = anomaly == _BY_KIND and claim.guarantee == "at-least-once"
    return claim.verdict in _DECIDED and anomaly not in claim.undecided and not by_kind


def _checked_anomalies(guarantee: str, hop: Hop) -> frozenset[str]:
    return refutations(guarantee, hop) | shown_with(guarantee)


def _covers(claim: Claim, scope: Scope) -> bool:
    if scope.hop is Hop.PRODUCE:
        return claim.hop is not Hop.PROCESS and scope.topic in ("", claim.input)
    sink = sink_of(claim)
    return sink is not None and scope in (sink, Scope(Hop.PROCESS))
