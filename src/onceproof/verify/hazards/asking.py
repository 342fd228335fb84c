"""Predicates on pipelines that many hazards share, and strikes at a single Kafka message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.until import Lasted, TookEffect
from onceproof.harness.user_pipeline.profile import GROUP
from onceproof.verify.hazards.hazard import PHASES, Pipeline, Strike

GATE: Final = "a gate on its links recorded the message and its outcome"

LATE_SECONDS: Final = 12.0
"""How late responses are: more than short client timeouts, far less than Kafka's 30 s to 5 min."""

SERVER: Final = "the server reported the outcome of the transaction"


def phase(n: int) -> float:
    """Return when a strike comes in round `n`, as a fraction of the interval between two writes."""
    return PHASES[n % len(PHASES)]


def needs(what: Callable[[Pipeline], object], why: str) -> Callable[[Pipeline], str | None]:
    """Return a check that says why a pipeline lacks a hazard, if `what` does not apply to it."""

    def unless(pipeline: Pipeline) -> str | None:
        if what(pipeline):
            return None
        observed = pipeline.profile.watched or pipeline.spark
        return why if observed else f"{why}, as far as could be observed"

    return unless


def is_program(pipeline: Pipeline) -> bool:
    """Whether it is anything but a Spark job with a watched checkpoint."""
    return not pipeline.spark


def commits_to_kafka(pipeline: Pipeline) -> bool:
    """Whether it commits offsets to a group, or transactions.

    A Flink job's transactions hold no offsets, because they are in its checkpoints.
    """
    return transactional(pipeline) or (is_program(pipeline) and GROUP in pipeline.profile.commits)


def transactional(pipeline: Pipeline) -> bool:
    return is_program(pipeline) and bool(pipeline.profile.transactional_ids)


def produces(pipeline: Pipeline) -> bool:
    """Whether the dry run saw it produce."""
    return pipeline.profile.watched and bool(pipeline.profile.topics)


def waits_for_acks(pipeline: Pipeline) -> bool:
    """Whether it produces and waits for acknowledgements."""
    return is_program(pipeline) and produces(pipeline) and pipeline.profile.acks != 0


def uses_brokers(pipeline: Pipeline) -> bool:
    """Whether it reads topics, or was seen to produce."""
    return not pipeline.fed or produces(pipeline)


def no_topic(pipeline: Pipeline) -> str | None:
    """Return why its input topic can have no odd content (it reads none), or None."""
    return "it reads no topic" if pipeline.fed else None


def cannot_pause(pipeline: Pipeline) -> str | None:
    """Return why it cannot be paused, or None."""
    return "it is controlled by commands, and none of them pauses it" if pipeline.deployed else None


def tables(pipeline: Pipeline) -> bool:
    """Whether it writes to the stage's database."""
    return bool(pipeline.profile.tables)


def calls_http(pipeline: Pipeline) -> bool:
    """Whether it was seen to call the run's HTTP service."""
    return bool(pipeline.profile.http_methods)


def hit(
    pipeline: Pipeline, api: str, action: str, *, lasts: float | None = None, **more: object
) -> Strike:
    """Return a strike at the first matching message, or at all of them for `lasts` seconds.

    Args:
        api: a name of Kafka's protocol, such as `OffsetCommit`.
        action: as in `HitMessage`.
        more: fields of `Message`, and the name of an `error`.
    """
    error = more.pop("error", None)
    message = Message(
        source="pipeline",
        api=api,
        **more,  # type: ignore[arg-type]
    )
    times = 1 if lasts is None else None
    fault = HitMessage(message=message, action=action, times=times, error=error)  # type: ignore[arg-type]
    return Strike(do=fault, until=TookEffect() if lasts is None else Lasted(seconds=lasts))
