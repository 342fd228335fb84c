"""Hazards of producing."""

from __future__ import annotations

from typing import Final

from onceproof.harness.links.gate.rules import Direction
from onceproof.verify.hazards.asking import (
    GATE,
    LATE_SECONDS,
    hit,
    needs,
    transactional,
    waits_for_acks,
)
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike

_UNAVAILABLE: Final = "NOT_ENOUGH_REPLICAS"

_FATAL: Final = "TOPIC_AUTHORIZATION_FAILED"

_PRODUCERS: Final = "pipelines that produce with acknowledgements"

_NO_ACKS: Final = "it does not produce to a topic, or uses acks=0"


def refused(pipeline: Pipeline, n: int) -> Strike:
    """Return a strike at a produce request, which is rejected with a fatal error."""
    return _produce(pipeline, n, "request", "error", error=_FATAL)


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
        says=f"its produce requests fail with {_UNAVAILABLE} for {LATE_SECONDS:g} s, which is "
        "longer than short delivery time-outs",
        of=_PRODUCERS,
        proof=GATE,
        unless=needs(waits_for_acks, _NO_ACKS),
        strikes=lambda p, n: [
            _produce(p, n, "request", "error", error=_UNAVAILABLE, lasts=LATE_SECONDS)
        ],
        rare=True,
    ),
    Hazard(
        name="produce-refused",
        says=f"a produce request fails with a fatal error, such as {_FATAL}",
        of=f"{_PRODUCERS}, outside transactions",
        proof=GATE,
        unless=needs(
            lambda p: waits_for_acks(p) and not transactional(p),
            "it does not produce outside transactions, which have their own hazards, or uses "
            "acks=0",
        ),
        strikes=lambda p, n: [refused(p, n)],
        brutal=True,
    ),
    Hazard(
        name="produce-unknown",
        says="its connection closes before the response to a produce request",
        of=_PRODUCERS,
        proof=GATE,
        unless=needs(waits_for_acks, _NO_ACKS),
        strikes=lambda p, n: [_produce(p, n, "response", "close-before")],
    ),
    Hazard(
        name="produce-unheard",
        says=f"brokers accept its records, but respond {LATE_SECONDS:g} s late, "
        "which is longer than short delivery time-outs",
        of=_PRODUCERS,
        proof=GATE,
        unless=needs(waits_for_acks, _NO_ACKS),
        strikes=lambda p, n: [_produce(p, n, "response", "hold", lasts=LATE_SECONDS)],
        rare=True,
    ),
)
