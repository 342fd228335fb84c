"""Hazards of a pipeline that ends with unprocessed records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onceproof.harness.faults.database.strike_database import StrikeDatabase
from onceproof.harness.faults.http.strike_http import StrikeHttp
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.program.withhold_writes import WithholdWrites
from onceproof.harness.faults.stop import Stop
from onceproof.harness.faults.targets.program import IN_HAND, Program
from onceproof.harness.faults.targets.program_commit import KILLED_AT_WORK
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.verify.hazards.asking import (
    LATE_SECONDS,
    SERVER,
    calls_http,
    commits_to_kafka,
    is_program,
    needs,
    phase,
    produces,
    tables,
)
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike


def _withheld(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    # In the first round, exceed short delivery timeouts, after which a program may commit anyway.
    seconds = pipeline.patience if n else max(pipeline.patience, LATE_SECONDS)
    for topic in pipeline.produced if produces(pipeline) else ():
        fault = WithholdWrites(topic=topic, seconds=seconds, phase=phase(n))
        yield Strike(do=fault, seconds=seconds)
    if tables(pipeline) and pipeline.profile.watched:
        fault_ = StrikeDatabase(when="commit", act="kill-undone", seconds=pipeline.patience)
        yield Strike(do=fault_)
        if commits_to_kafka(pipeline):  # it may keep in memory what was refused
            refused = StrikeDatabase(when="statement", act="kill-refused", seconds=seconds)
            yield Strike(do=refused, seconds=seconds)
    if calls_http(pipeline) and pipeline.profile.watched:
        yield Strike(do=StrikeHttp(act="kill-undone", seconds=seconds), seconds=seconds)
        if commits_to_kafka(pipeline):
            yield Strike(do=StrikeHttp(act="kill-refused", seconds=seconds), seconds=seconds)


def _stopped(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    # `gentle` has only round 0.
    if pipeline.spark:
        yield Strike(do=Stop(SparkDriver()))
        return
    if produces(pipeline) and (n == 0 or n % 2):
        topics = pipeline.produced
        yield Strike(do=WithholdWrites(topic=topics[n % len(topics)], ending="stop", seconds=0.5))
    if not (produces(pipeline) and n % 2):
        in_hand = pipeline.profile.watched and not pipeline.fed
        several = in_hand and n == 0 and not produces(pipeline)
        for part in (phase(0), phase(1)) if several else (phase(n),):
            yield Strike(do=Stop(Program(phase=part), at=IN_HAND if in_hand else None))
    if is_program(pipeline) and tables(pipeline) and pipeline.profile.watched:
        yield Strike(do=StrikeDatabase(when="commit", act="stop", seconds=pipeline.patience))


def _other_topics(pipeline: Pipeline) -> tuple[str, ...]:
    """Return topics that are not outputs, if writes to them can be held back."""
    return pipeline.beside if is_program(pipeline) and pipeline.profile.watched else ()


def _between(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    for table in pipeline.profile.tables:
        yield Strike(do=StrikeDatabase(when="statement", act="kill-undone", table=table))
    # `_withheld` covers the topics of its outputs.
    for topic in _other_topics(pipeline):
        seconds = pipeline.patience
        fault = WithholdWrites(topic=topic, seconds=seconds, phase=phase(n))
        yield Strike(do=fault, seconds=seconds)


WORK: Final[tuple[Hazard, ...]] = (
    Hazard(
        name="killed-with-writes",
        says="it is killed while its writes are in flight or refused, after it had time to commit "
        f"offsets; once after {LATE_SECONDS:g} s, unless it commits earlier",
        of="pipelines that produce, write to the stage's database, or call the HTTP service",
        proof="its writes were held back or refused when it was killed, or it ended because of "
        "that",
        unless=needs(
            lambda p: (
                is_program(p) and p.profile.watched and (produces(p) or tables(p) or calls_http(p))
            ),
            "its writes use no link on which they can be held back",
        ),
        strikes=lambda p, n: list(_withheld(p, n)),
    ),
    Hazard(
        name="killed-between-writes",
        says="it is killed just before a write to each of its tables, and to each of its topics "
        "that is not an output",
        of="pipelines that write to several tables, to tables and topics, or to topics that are "
        "not outputs",
        proof=f"{SERVER}; its writes to the topic were held back when it was killed",
        unless=needs(
            lambda p: (
                len(p.profile.tables) + bool(p.profile.tables) * len(p.produced) > 1
                or _other_topics(p)
            ),
            "it has only one output",
        ),
        strikes=lambda p, n: list(_between(p, n)),
    ),
    Hazard(
        name="stopped-with-work",
        says="it receives SIGTERM while it has inputs that it has read but not written",
        of="all pipelines",
        proof="at SIGTERM, its write was held back, or it had read inputs since its last write, or "
        "it writes as it reads",
        unless=lambda p: None,
        strikes=lambda p, n: list(_stopped(p, n)),
    ),
    Hazard(
        name=KILLED_AT_WORK,
        says="it is killed while some inputs have no effects yet",
        of="all pipelines except Spark jobs",
        proof="some inputs had effects and some had none when it was killed",
        unless=needs(is_program, "a Spark job is killed in the windows of its micro-batches"),
        strikes=lambda p, n: [Strike(do=Kill(Program(phase=phase(n))), tells=True)],
    ),
)
