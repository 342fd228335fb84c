"""Create claims, and decide which anomalies refute them.

This module holds only policy: how an anomaly is found is defined in its own file. An end-to-end
claim is refuted by the anomalies of both hops.

    exactly_once("payments", into="ledger", view="table", hazards={"replayed-batch"})
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, TypedDict, Unpack

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.claims_json import BadClaim, claim_from_json, claim_to_json
from onceproof.checkers.fine_print import standard_fine_print
from onceproof.checkers.model import Claim, Expectation, Findings, FinePrint, Hop, Scope
from onceproof.checkers.refutations import GUARANTEES, HOPS, refutations

__all__ = [
    "ATOMIC",
    "AT_LEAST_ONCE",
    "AT_MOST_ONCE",
    "EXACTLY_ONCE",
    "GUARANTEES",
    "IDEMPOTENT",
    "ORDERED",
    "BadClaim",
    "at_least_once",
    "at_least_once_append",
    "at_most_once",
    "at_most_once_append",
    "atomic",
    "atomic_append",
    "claim_from_json",
    "claim_to_json",
    "end_to_end",
    "exactly_once",
    "exactly_once_append",
    "idempotent_append",
    "ordered",
    "ordered_append",
    "refutations",
    "refutes",
]

AT_MOST_ONCE: Final = "at-most-once"
AT_LEAST_ONCE: Final = "at-least-once"
EXACTLY_ONCE: Final = "exactly-once"
IDEMPOTENT: Final = "idempotent"
ATOMIC: Final = "atomic"
ORDERED: Final = "ordered"


class Terms(TypedDict, total=False):
    """Options of every claim: required hazards, the expectation and the fine print."""

    hazards: Iterable[str]
    expect: Expectation | None
    fine_print: FinePrint | None


class SinkTerms(Terms, total=False):
    """`Terms`, whether repeated sends count once, and the sink of unprocessable records."""

    deduplicates: bool
    dead_letters: str | None


def at_most_once(topic: str, *, into: str, view: str, **terms: Unpack[SinkTerms]) -> Claim:
    """Claim at most one effect per committed log entry of `topic`, as readers of `view` see it."""
    return _into(AT_MOST_ONCE, Hop.PROCESS, topic, into, view, terms)


def at_least_once(topic: str, *, into: str, view: str, **terms: Unpack[SinkTerms]) -> Claim:
    """Claim at least one effect per committed log entry of `topic`, as readers of `view` see it."""
    return _into(AT_LEAST_ONCE, Hop.PROCESS, topic, into, view, terms)


def exactly_once(topic: str, *, into: str, view: str, **terms: Unpack[SinkTerms]) -> Claim:
    """Claim exactly the expected effects per committed log entry of `topic`, as seen in `view`."""
    return _into(EXACTLY_ONCE, Hop.PROCESS, topic, into, view, terms)


def ordered(topic: str, *, into: str, view: str, **terms: Unpack[SinkTerms]) -> Claim:
    """Claim that the effects of one key are in `into` in the order of their inputs."""
    return _into(ORDERED, Hop.PROCESS, topic, into, view, terms)


def atomic(topic: str, *, into: Sequence[tuple[str, str]], **terms: Unpack[SinkTerms]) -> Claim:
    """Claim that each input of `topic` has effects in all of these (sink, view) pairs or in none.

    Raises:
        BadClaim: there are fewer than two sinks.
    """
    if len(into) < 2:
        raise BadClaim(
            f"{ATOMIC} into {len(into)} sinks: expected two or more pairs of sink and view"
        )
    (sink, view), *others = into
    claim = _into(ATOMIC, Hop.PROCESS, topic, sink, view, terms)
    return replace(claim, scope=replace(claim.scope, others=tuple(others)))


def at_most_once_append(topic: str, **terms: Unpack[Terms]) -> Claim:
    """Claim that every send appears at most once in the committed log of `topic`."""
    return _append(AT_MOST_ONCE, topic, terms)


def at_least_once_append(topic: str, **terms: Unpack[Terms]) -> Claim:
    """Claim that every acknowledged send is in the committed log of `topic`."""
    return _append(AT_LEAST_ONCE, topic, terms)


def exactly_once_append(topic: str, **terms: Unpack[Terms]) -> Claim:
    """Claim that every acknowledged send appears exactly once in the committed log of `topic`."""
    return _append(EXACTLY_ONCE, topic, terms)


def idempotent_append(topic: str, **terms: Unpack[Terms]) -> Claim:
    """Claim that client retries leave no trace in `topic`: no duplicate, gap or reordering."""
    return _append(IDEMPOTENT, topic, terms)


def atomic_append(topic: str, **terms: Unpack[Terms]) -> Claim:
    """Claim that transactions that write to `topic` are all or nothing for every reader."""
    return _append(ATOMIC, topic, terms)


def ordered_append(topic: str, **terms: Unpack[Terms]) -> Claim:
    """Claim that a session's sends to each partition of `topic` are written and read in order."""
    return _append(ORDERED, topic, terms)


def end_to_end(
    guarantee: str, topic: str, *, into: str, view: str, **terms: Unpack[SinkTerms]
) -> Claim:
    """Claim a guarantee from the application's send, through `topic`, to its effects in the sink.

    Raises:
        BadClaim: there is no such guarantee, or it does not apply to this hop.
    """
    return _into(guarantee, Hop.END_TO_END, topic, into, view, terms)


def refutes(claim: Claim, findings: Findings) -> bool:
    """Whether findings of one anomaly refute a claim.

    Some refute only by one kind of finding, which must be among those shown.
    """
    if not findings.count or findings.anomaly not in refutations(claim.guarantee, claim.hop):
        return False
    only_if = anomalies()[findings.anomaly].refutes_only_if.get(claim.guarantee, {})
    return not only_if or any(only_if.items() <= finding.key.items() for finding in findings.shown)


def _append(guarantee: str, topic: str, terms: Terms) -> Claim:
    return _claim(guarantee, Hop.PRODUCE, Scope(input=topic), terms)


def _into(guarantee: str, hop: Hop, topic: str, into: str, view: str, terms: SinkTerms) -> Claim:
    letters = terms.get("dead_letters")
    scope = Scope(input=topic, sink=into, view=view, dead_letters=letters)
    return _claim(guarantee, hop, scope, terms, terms.get("deduplicates", False))


def _claim(
    guarantee: str, hop: Hop, scope: Scope, terms: Terms, deduplicates: bool = False
) -> Claim:
    if guarantee not in GUARANTEES:
        raise BadClaim(f"unknown guarantee {guarantee!r}: expected one of {', '.join(GUARANTEES)}")
    if hop not in HOPS.get(guarantee, frozenset(Hop)):
        raise BadClaim(
            f"{guarantee} cannot be claimed on hop {hop}: expected "
            f"{', '.join(sorted(HOPS[guarantee]))}"
        )
    hazards, expect = terms.get("hazards", ()), terms.get("expect")
    if isinstance(hazards, str):
        raise BadClaim(f"hazards={hazards!r}: expected a set of kinds, such as {{{hazards!r}}}")
    if expect is not None and (
        odd := (expect.anomalies | expect.may) - refutations(guarantee, hop)
    ):
        raise BadClaim(
            f"{', '.join(sorted(odd))} cannot be expected, because it does not refute {guarantee} "
            f"on hop {hop}: expected one of {', '.join(sorted(refutations(guarantee, hop)))}"
        )
    return Claim(
        guarantee=guarantee,
        hop=hop,
        scope=scope,
        fine_print=terms.get("fine_print") or standard_fine_print(guarantee, hop),
        hazards=frozenset(hazards),
        deduplicates=deduplicates,
        expect=expect,
    )
