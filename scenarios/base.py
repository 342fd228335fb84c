"""Expectations and claims that most scenarios share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from onceproof.checkers.claims import (
    at_least_once,
    at_least_once_append,
    at_most_once,
    at_most_once_append,
    exactly_once,
    exactly_once_append,
)
from onceproof.checkers.model import Claim, Expectation, Verdict

REPLAYED_BATCH: Final = "replayed-batch"
"""The hazard of a Spark query: a micro-batch ran again after its effects were visible."""
HOLDS: Final = Expectation(verdict=Verdict.HOLDS)
UNEXERCISED: Final = Expectation(verdict=Verdict.UNEXERCISED)


def violated(*anomalies: str, may: Iterable[str] = ()) -> Expectation:
    """Expect exactly these anomalies; those in `may` are allowed, but not required."""
    return Expectation(verdict=Verdict.VIOLATED, anomalies=frozenset(anomalies), may=frozenset(may))


DUPLICATES: Final = violated("duplicate-output")
LOST: Final = violated("lost-output", "offset-ahead")
WRONG: Final = violated("state-mismatch")
"""For balances and windows: an aggregate does not show which record was added twice or lost."""


def claims(
    topic: str,
    sink: str,
    view: str,
    *,
    most: Expectation | None = None,
    least: Expectation | None = None,
    exactly: Expectation | None = None,
    hazards: Iterable[str] = (REPLAYED_BATCH,),
    deduplicates: bool = False,
) -> tuple[Claim, ...]:
    """Return the at-most-once, at-least-once and exactly-once claims that have an expectation."""
    return tuple(
        claim(
            topic, into=sink, view=view, hazards=hazards, deduplicates=deduplicates, expect=expect
        )
        for claim, expect in (
            (at_most_once, most),
            (at_least_once, least),
            (exactly_once, exactly),
        )
        if expect is not None
    )


def claims_of_repeated_sends(topic: str) -> tuple[Claim, ...]:
    """Return the claims of a sender that resends without idempotence and so appends duplicates."""
    twice = violated("duplicate")
    return (
        at_most_once_append(topic, expect=twice),
        at_least_once_append(topic, hazards={"retried-send"}, expect=HOLDS),
        exactly_once_append(topic, expect=twice),
    )
