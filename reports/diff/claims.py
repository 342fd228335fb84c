"""Compare the claims of two runs.

A claim is *better* only if it holds in B. A violated claim that is unexercised or unknown in the
other run is not better: less is known about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from onceproof.checkers.model import Verdict
from onceproof.reports.diff.model import Change, ClaimPair, ClaimVerdict
from onceproof.reports.model import Claim

Identity = tuple[str, str, str, str | None, str | None]

_KNOWN: Final = {
    Verdict.VIOLATED: 2,
    Verdict.STALLED: 2,
    Verdict.HOLDS: 2,
    Verdict.UNEXERCISED: 1,
    Verdict.UNKNOWN: 0,
    Verdict.INVALID: 0,
}
"""How much a verdict says about the subject: 2 decided, 1 nothing was found, 0 nothing."""
_BADNESS: Final = {Verdict.VIOLATED: 2, Verdict.STALLED: 1}


def pair_claims(a: Sequence[Claim], b: Sequence[Claim]) -> tuple[ClaimPair, ...]:
    """Return a pair for each claim of either run: A's in their order, then those only in B."""
    in_a = {identity(claim): claim for claim in a}
    in_b = {identity(claim): claim for claim in b}
    both = {**in_b, **in_a}
    names = _names([both[key] for key in dict.fromkeys([*in_a, *in_b])])
    return tuple(
        _pair(name, in_a.get(key), in_b.get(key))
        for key, name in zip(dict.fromkeys([*in_a, *in_b]), names, strict=True)
    )


def identity(claim: Claim) -> Identity:
    return (claim.guarantee, claim.hop.value, claim.input, claim.sink, claim.view)


def change(a: ClaimVerdict, b: ClaimVerdict) -> Change:
    if _BADNESS.get(b.verdict, 0) > _BADNESS.get(a.verdict, 0):
        return Change.WORSE
    if a.expected and b.expected is False:
        return Change.UNEXPECTED
    if a.verdict is b.verdict:
        return Change.SAME
    known_a, known_b = _KNOWN[a.verdict], _KNOWN[b.verdict]
    if known_b < known_a or b.verdict is Verdict.STALLED:
        return Change.LESS_KNOWN  # a stall hides what a violation showed
    if known_b > known_a:
        return Change.MORE_KNOWN
    return Change.BETTER if b.verdict is Verdict.HOLDS else Change.OTHER


def _pair(name: str, a: Claim | None, b: Claim | None) -> ClaimPair:
    result_a, result_b = (None if claim is None else _result_of(claim) for claim in (a, b))
    if result_a is None or result_b is None:
        became = Change.ONLY_B if result_a is None else Change.ONLY_A
    else:
        became = change(result_a, result_b)
    return ClaimPair(name=name, change=became, a=result_a, b=result_b)


def _result_of(claim: Claim) -> ClaimVerdict:
    return ClaimVerdict(
        verdict=claim.verdict,
        reason=claim.reason,
        refuted_by=claim.refuted_by,
        expected=claim.expected,
    )


def _names(claims: Iterable[Claim]) -> list[str]:
    """Return the claims' names, with the view appended where a name is not unique."""
    claims = list(claims)
    times = Counter(claim.name for claim in claims)
    return [f"{c.name}@{c.view}" if c.view and times[c.name] > 1 else c.name for c in claims]
