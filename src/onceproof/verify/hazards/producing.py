"""Hazards of producing."""

from __future__ import annotations

from typing import Final

from onceproof.harness.links.gate.rules import Direction
from onceproof.verify.hazards.asking import (
    GATE,
    LATE_SECONDS,
    asks_for_answers,
    hit,
    needs,
    transactional,
)
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike

_UNAVAILABLE: Final = "NOT_ENOUGH_REPLICAS"

_REFUSED_FOR_GOOD: Final = "TOPIC_AUTHORIZATION_FAILED"

_NO_ANSWERS: Final = "it produces to no topic, or asks for no answers (acks=0)"


def refused(pipeline: Pipeline, n: int) -> Strike:
    """Return a strike at a produce request, which is rejected with a fatal error."""
    return _produce(pipeline, n, "request", "error", error=_REFUSED_FOR_GOOD)


def _produce(
    pipeline: Pipeline,
    n: int,
    direction: Direction,
    action: str,
    *,
    lasts: float | None = None,
    error: str | None = None,
) -> Strike:
    topics = pipeline.produced
    topic = topics[n % len(topics)]
    return hit(
        pipeline, "Produce", action, direction=direction, topic=topic, lasts=lasts, error=error
    )


PRODUCING: Final[tuple[Hazard, ...]] = (
    Hazard(
        name="produce-unavailable",
        says=f"no replica accepts its records for {LATE_SECONDS:g} s, which is longer than "
        "short delivery time-outs",
        of="produces",
        proof=GATE,
        unless=needs(asks_for_answers, _NO_ANSWERS),
        strikes=lambda p, n: [
            _produce(p, n, "request", "error", error=_UNAVAILABLE, lasts=LATE_SECONDS)
        ],
        rare=True,
    ),
    Hazard(
        name="produce-refused",
        says="a produce request is rejected for good, as with missing authorization",
        of="produces outside transactions",
        proof=GATE,
        unless=needs(
            lambda p: asks_for_answers(p) and not transactional(p),
            "it produces nothing outside transactions, which have hazards of their own, or uses "
            "acks=0",
        ),
        strikes=lambda p, n: [refused(p, n)],
        brutal=True,
    ),
    Hazard(
        name="produce-unknown",
        says="its connection closes instead of the response to a produce request",
        of="produces",
        proof=GATE,
        unless=needs(asks_for_answers, _NO_ANSWERS),
        strikes=lambda p, n: [_produce(p, n, "response", "close-before")],
    ),
    Hazard(
        name="produce-unheard",
        says=f"brokers accept its records, but respond {LATE_SECONDS:g} s late, "
        "which is longer than short delivery time-outs",
        of="produces",
        proof=GATE,
        unless=needs(asks_for_answers, _NO_ANSWERS),
        strikes=lambda p, n: [_produce(p, n, "response", "hold", lasts=LATE_SECONDS)],
        rare=True,
    ),
)
