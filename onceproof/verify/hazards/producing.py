"""Hazards of who produces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.faults.hit_message import HitMessage
from harness.faults.message import Message
from harness.faults.until import Lasted
from onceproof.verify.hazards.asking import (
    GATE,
    asks_for_answers,
    hit,
    needs,
    transactional,
)
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike

DELIVERY_SECONDS: Final = 12.0
"""For how long no record of the pipeline is taken, or none of its brokers' answers arrives: longer
than delivery time-outs that are short for Kafka, far shorter than its clients' own, which are two
to five minutes."""

_UNAVAILABLE: Final = "NOT_ENOUGH_REPLICAS"

_ALWAYS: Final = 1_000_000

_REFUSED_FOR_GOOD: Final = "TOPIC_AUTHORIZATION_FAILED"

_NO_ANSWERS: Final = "it produces to no topic, or asks for no answers (acks=0)"


def refused(pipeline: Pipeline, n: int) -> Strike:
    """A produce request that is refused for good."""
    topics = pipeline.produced
    return hit(
        pipeline, "Produce", "error", direction="request", topic=topics[n % len(topics)],
        error=_REFUSED_FOR_GOOD,
    )  # fmt: skip


def _unavailable(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    topics = pipeline.produced
    message = Message(
        source="pipeline", direction="request", api="Produce", topic=topics[n % len(topics)]
    )
    refused = HitMessage(message=message, action="error", times=_ALWAYS, error=_UNAVAILABLE)
    yield Strike(do=refused, until=Lasted(seconds=DELIVERY_SECONDS))


def _unknown(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    topics = pipeline.produced
    yield hit(
        pipeline, "Produce", "close-before", direction="response", topic=topics[n % len(topics)]
    )


def _unheard(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    topics = pipeline.produced
    answer = Message(
        source="pipeline", direction="response", api="Produce", topic=topics[n % len(topics)]
    )
    late = HitMessage(message=answer, action="hold", times=_ALWAYS)
    yield Strike(do=late, until=Lasted(seconds=DELIVERY_SECONDS))


PRODUCING: Final[tuple[Hazard, ...]] = (
    Hazard(
        name="produce-unavailable",
        says=f"no replica takes what it produces for {DELIVERY_SECONDS:g} s, which is longer than "
        "short delivery time-outs",
        of="produces",
        proof=GATE,
        unless=needs(asks_for_answers, _NO_ANSWERS),
        strikes=lambda p, n: list(_unavailable(p, n)),
        rare=True,
    ),
    Hazard(
        name="produce-refused",
        says="a produce request is refused for good, as for want of authorization",
        of="produces outside transactions",
        proof=GATE,
        unless=needs(
            lambda p: asks_for_answers(p) and not transactional(p),
            "it produces nothing outside transactions, which have hazards of their own, or asks "
            "for no answers",
        ),
        strikes=lambda p, n: [refused(p, n)],
        brutal=True,
    ),
    Hazard(
        name="produce-unknown",
        says="its connection ends in place of the answer to a produce request",
        of="produces",
        proof=GATE,
        unless=needs(asks_for_answers, _NO_ANSWERS),
        strikes=lambda p, n: list(_unknown(p, n)),
    ),
    Hazard(
        name="produce-unheard",
        says=f"brokers take what it produces, and their answers come {DELIVERY_SECONDS:g} s late, "
        "which is longer than short delivery time-outs",
        of="produces",
        proof=GATE,
        unless=needs(asks_for_answers, _NO_ANSWERS),
        strikes=lambda p, n: list(_unheard(p, n)),
        rare=True,
    ),
)
