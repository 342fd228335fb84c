"""What many hazards ask of a pipeline, and how they strike at one of its messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.until import Lasted, TookEffect
from onceproof.harness.user_pipeline.profile import GROUP
from onceproof.verify.hazards.hazard import PHASES, Pipeline, Strike

GATE: Final = "a gate on its links saw the message and its outcome"

LATE_SECONDS: Final = 12.0
"""How late answers come: longer than clients wait that are set to wait for less than by default,
far shorter than Kafka's own time-outs of half a minute to five."""

SERVER: Final = "the server reported the outcome of the transaction"


def phase(n: int) -> float:
    """How far into the pause between two writes the strike of a round comes."""
    return PHASES[n % len(PHASES)]


def needs(what: Callable[[Pipeline], object], why: str) -> Callable[[Pipeline], str | None]:
    """Why a pipeline does not have a hazard, where it has not what the hazard needs."""

    def unless(pipeline: Pipeline) -> str | None:
        if what(pipeline):
            return None
        return why if pipeline.profile.watched or pipeline.spark else f"{why} that was seen here"

    return unless


def is_program(pipeline: Pipeline) -> bool:
    """Whether it is no Spark job with a checkpoint that is watched."""
    return not pipeline.spark


def commits_to_kafka(pipeline: Pipeline) -> bool:
    """Whether it commits offsets to a group, or transactions: with its offsets, or without them as
    those of a Flink job, which has its offsets in its checkpoints.
    """
    return transactional(pipeline) or (is_program(pipeline) and GROUP in pipeline.profile.commits)


def transactional(pipeline: Pipeline) -> bool:
    """Whether it produces in transactions."""
    return is_program(pipeline) and bool(pipeline.profile.transactional_ids)


def produces(pipeline: Pipeline) -> bool:
    """Whether it was seen to produce."""
    return pipeline.profile.watched and bool(pipeline.profile.topics)


def asks_for_answers(pipeline: Pipeline) -> bool:
    """Whether it produces, and waits for acknowledgements."""
    return is_program(pipeline) and produces(pipeline) and pipeline.profile.acks != 0


def uses_brokers(pipeline: Pipeline) -> bool:
    """Whether it reads topics, or was seen to produce."""
    return not pipeline.fed or produces(pipeline)


def no_topic(pipeline: Pipeline) -> str | None:
    """Why nothing can be in the topic that it reads; None if it reads one."""
    return "it reads no topic" if pipeline.fed else None


def cannot_pause(pipeline: Pipeline) -> str | None:
    """Why it cannot be made to stand still; None if it can."""
    return "only commands reach it, and none pauses it" if pipeline.deployed else None


def tables(pipeline: Pipeline) -> bool:
    """Whether it writes to a database of the stage."""
    return bool(pipeline.profile.tables)


def calls_http(pipeline: Pipeline) -> bool:
    """Whether it was seen to call the run's HTTP service."""
    return bool(pipeline.profile.http_methods)


def hit(
    pipeline: Pipeline, api: str, action: str, *, lasts: float | None = None, **more: object
) -> Strike:
    """Something done to the first message of the pipeline that is so.

    Args:
        api: its name in Kafka's protocol.
        action: what is done, as `HitMessage` has it.
        lasts: for how many seconds it is done to all such messages, not the first one alone.
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
