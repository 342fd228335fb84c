"""Claims: what each guarantee promises on each hop, and which anomalies refute it.

The one thing to know: this is policy and nothing else. How an anomaly is found is said in its own
file; here it only stands which guarantee cannot live with it. End to end both tables hold.

    exactly_once("payments", into="ledger", view="table", hazards={"replayed-batch"})
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from checkers.claims_json import BadClaim, claim_from_json, claim_to_json
from checkers.fine_print import standard_fine_print
from checkers.model import Claim, Expectation, Findings, FinePrint, Hop, Scope
from checkers.refutations import GUARANTEES, refutations

__all__ = [
    "AT_LEAST_ONCE",
    "AT_MOST_ONCE",
    "EXACTLY_ONCE",
    "GUARANTEES",
    "BadClaim",
    "at_least_once",
    "at_least_once_append",
    "at_most_once",
    "at_most_once_append",
    "claim_from_json",
    "claim_to_json",
    "end_to_end",
    "exactly_once",
    "exactly_once_append",
    "refutations",
    "refutes",
]

AT_MOST_ONCE: Final = "at-most-once"
AT_LEAST_ONCE: Final = "at-least-once"
EXACTLY_ONCE: Final = "exactly-once"


def at_most_once(
    topic: str,
    *,
    into: str,
    view: str,
    hazards: Iterable[str] = (),
    expect: Expectation | None = None,
    fine_print: FinePrint | None = None,
    deduplicates: bool = False,
) -> Claim:
    """At most one effect of each committed position of `topic`, as readers of `view` see it."""
    scope = Scope(input=topic, sink=into, view=view)
    return _claim(AT_MOST_ONCE, Hop.PROCESS, scope, hazards, expect, fine_print, deduplicates)


def at_least_once(
    topic: str,
    *,
    into: str,
    view: str,
    hazards: Iterable[str] = (),
    expect: Expectation | None = None,
    fine_print: FinePrint | None = None,
    deduplicates: bool = False,
) -> Claim:
    """At least one effect of each committed position of `topic`, as readers of `view` see it."""
    scope = Scope(input=topic, sink=into, view=view)
    return _claim(AT_LEAST_ONCE, Hop.PROCESS, scope, hazards, expect, fine_print, deduplicates)


def exactly_once(
    topic: str,
    *,
    into: str,
    view: str,
    hazards: Iterable[str] = (),
    expect: Expectation | None = None,
    fine_print: FinePrint | None = None,
    deduplicates: bool = False,
) -> Claim:
    """Exactly the effects of each committed position of `topic`, as readers of `view` see it."""
    scope = Scope(input=topic, sink=into, view=view)
    return _claim(EXACTLY_ONCE, Hop.PROCESS, scope, hazards, expect, fine_print, deduplicates)


def at_most_once_append(
    topic: str,
    *,
    hazards: Iterable[str] = (),
    expect: Expectation | None = None,
    fine_print: FinePrint | None = None,
) -> Claim:
    """Every send stands at most once in the committed log of `topic`."""
    return _claim(AT_MOST_ONCE, Hop.PRODUCE, Scope(input=topic), hazards, expect, fine_print)


def at_least_once_append(
    topic: str,
    *,
    hazards: Iterable[str] = (),
    expect: Expectation | None = None,
    fine_print: FinePrint | None = None,
) -> Claim:
    """Every acknowledged send stands in the committed log of `topic`."""
    return _claim(AT_LEAST_ONCE, Hop.PRODUCE, Scope(input=topic), hazards, expect, fine_print)


def exactly_once_append(
    topic: str,
    *,
    hazards: Iterable[str] = (),
    expect: Expectation | None = None,
    fine_print: FinePrint | None = None,
) -> Claim:
    """Every acknowledged send stands exactly once in the committed log of `topic`."""
    return _claim(EXACTLY_ONCE, Hop.PRODUCE, Scope(input=topic), hazards, expect, fine_print)


def end_to_end(
    guarantee: str,
    topic: str,
    *,
    into: str,
    view: str,
    hazards: Iterable[str] = (),
    expect: Expectation | None = None,
    fine_print: FinePrint | None = None,
    deduplicates: bool = False,
) -> Claim:
    """A guarantee from the application's send, through `topic`, to its effects in the sink.

    Raises:
        BadClaim: there is no such guarantee.
    """
    scope = Scope(input=topic, sink=into, view=view)
    return _claim(guarantee, Hop.END_TO_END, scope, hazards, expect, fine_print, deduplicates)


def refutes(claim: Claim, findings: Findings) -> bool:
    """Whether findings of one anomaly refute a claim.

    An offset gap refutes at-least-once, an overlap does not: positions in two batches are not
    lost. Gaps come first among the findings, so the first one tells.
    """
    if not findings.count or findings.anomaly not in refutations(claim.guarantee, claim.hop):
        return False
    if findings.anomaly == "offset-gap" and claim.guarantee == AT_LEAST_ONCE:
        return any(finding.key.get("kind") == "gap" for finding in findings.shown[:1])
    return True


def _claim(
    guarantee: str,
    hop: Hop,
    scope: Scope,
    hazards: Iterable[str],
    expect: Expectation | None,
    fine_print: FinePrint | None,
    deduplicates: bool = False,
) -> Claim:
    if guarantee not in GUARANTEES:
        raise BadClaim(
            f"there is no guarantee {guarantee!r}; expected one of {', '.join(GUARANTEES)}"
        )
    if isinstance(hazards, str):
        raise BadClaim(f"hazards={hazards!r}: expected a set of kinds, such as {{{hazards!r}}}")
    if expect is not None and (odd := expect.anomalies - refutations(guarantee, hop)):
        raise BadClaim(
            f"{', '.join(sorted(odd))} cannot be expected: it does not refute {guarantee} on hop "
            f"{hop}; that is done by {', '.join(sorted(refutations(guarantee, hop)))}"
        )
    return Claim(
        guarantee=guarantee,
        hop=hop,
        scope=scope,
        fine_print=fine_print or standard_fine_print(guarantee, hop),
        hazards=frozenset(hazards),
        deduplicates=deduplicates,
        expect=expect,
    )
