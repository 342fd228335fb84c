"""Hazards of commits: offset commits to Kafka, and transactions."""

from __future__ import annotations

from typing import Final

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.program.fence_program import FenceProgram
from onceproof.harness.faults.targets.program import Program
from onceproof.harness.faults.targets.program_commit import HAZARDS
from onceproof.harness.user_pipeline.profile import GROUP, TRANSACTION
from onceproof.verify.hazards.asking import (
    GATE,
    LATE_SECONDS,
    commits_to_kafka,
    hit,
    is_program,
    needs,
    transactional,
)
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike
from onceproof.verify.hazards.producing import refused

_OFFSET_ERRORS: Final = ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS")
_BEFORE, _AFTER = HAZARDS["before-commit"], HAZARDS["after-commit"]

_KAFKA: Final = "pipelines that commit offsets or transactions to Kafka"
_TRANSACTIONAL: Final = "pipelines that use transactions"
_NOTHING: Final = "it commits neither offsets nor transactions to Kafka"


def _at_offsets(
    pipeline: Pipeline, action: str, *, lasts: float | None = None, **more: object
) -> list[Strike]:
    """Strike at a commit of each input's offsets outside transactions."""
    return [
        hit(pipeline, "OffsetCommit", action, topic=topic, lasts=lasts, **more)
        for topic in pipeline.inputs
    ]


def _at_commit(
    pipeline: Pipeline, action: str, *, lasts: float | None = None, **more: object
) -> list[Strike]:
    """Strike at the end of a transaction, if any, and at offset commits outside transactions."""
    strikes = []
    if transactional(pipeline):
        strikes.append(hit(pipeline, "EndTxn", action, commits=True, lasts=lasts, **more))
    if GROUP in pipeline.profile.commits:
        strikes.extend(_at_offsets(pipeline, action, lasts=lasts, **more))
    return strikes


def _killed(pipeline: Pipeline, at: str) -> list[Strike]:
    """Kill it at an offset commit of each input, or at the end of a transaction."""
    times = 1 if transactional(pipeline) else len(pipeline.inputs)
    return [Strike(do=Kill(Program(), at=at), tells=True)] * times


def _not_fenced(pipeline: Pipeline) -> str | None:
    if transactional(pipeline) and pipeline.profile.prepares:
        return "its transactions contain no offsets, and fencing may abort a prepared transaction"
    return needs(transactional, "it has no transactions")(pipeline)


def _offset_error(n: int) -> str:
    return _OFFSET_ERRORS[n % len(_OFFSET_ERRORS)]


def _aborted(pipeline: Pipeline, n: int) -> Strike:
    if n % 2 == 0 and TRANSACTION in pipeline.profile.commits:
        error = _OFFSET_ERRORS[n // 2 % 2]  # the third one is for members outside transactions
        return hit(pipeline, "TxnOffsetCommit", "error", direction="request", error=error)
    return refused(pipeline, n)


COMMITS: Final[tuple[Hazard, ...]] = (
    Hazard(
        name=_BEFORE,
        says="it is killed before its commit reaches the broker",
        of=_KAFKA,
        proof="a gate dropped the request that ends a transaction or commits new offsets",
        unless=needs(commits_to_kafka, _NOTHING),
        strikes=lambda p, n: _killed(p, "before-commit"),
    ),
    Hazard(
        name=_AFTER,
        says="it is killed before it receives the response to a successful commit",
        of=_KAFKA,
        proof="a gate dropped the response to a commit that was not rejected",
        unless=needs(commits_to_kafka, _NOTHING),
        strikes=lambda p, n: _killed(p, "after-commit"),
    ),
    Hazard(
        name="commit-refused",
        says="its offset commit is rejected; it keeps running",
        of="pipelines that send OffsetCommit",
        proof=GATE,
        unless=needs(
            lambda p: is_program(p) and GROUP in p.profile.commits, "it sends no OffsetCommit"
        ),
        strikes=lambda p, n: _at_offsets(p, "error", direction="request", error=_offset_error(n)),
    ),
    Hazard(
        name="commit-unknown",
        says="its connection closes before the response to a commit; it keeps running",
        of=_KAFKA,
        proof=GATE,
        unless=needs(commits_to_kafka, _NOTHING),
        strikes=lambda p, n: _at_commit(p, "close-before", direction="response"),
    ),
    Hazard(
        name="commit-unheard",
        says=f"its commit succeeds, but the response is {LATE_SECONDS:g} s late; it keeps running",
        of=_KAFKA,
        proof=GATE,
        unless=needs(commits_to_kafka, _NOTHING),
        strikes=lambda p, n: _at_commit(p, "hold", direction="response", lasts=LATE_SECONDS),
        rare=True,
    ),
    Hazard(
        name="coordinator-moved",
        says="its commit fails with NOT_COORDINATOR; it keeps running",
        of=_KAFKA,
        proof=GATE,
        unless=needs(commits_to_kafka, _NOTHING),
        strikes=lambda p, n: _at_commit(p, "error", direction="request", error="NOT_COORDINATOR"),
    ),
    Hazard(
        name="transaction-aborted",
        says="an error forces it to abort a transaction; it keeps running",
        of=_TRANSACTIONAL,
        proof=GATE,
        unless=needs(lambda p: transactional(p) and p.produced, "it has no transactions"),
        strikes=lambda p, n: [_aborted(p, n)],
    ),
    Hazard(
        name="producer-fenced",
        says="its transactional producer is fenced just before a commit",
        of=_TRANSACTIONAL,
        proof="the coordinator rejected its commit, because a newer producer had its "
        "transactional id",
        unless=_not_fenced,
        strikes=lambda p, n: [Strike(do=FenceProgram())],
    ),
)
