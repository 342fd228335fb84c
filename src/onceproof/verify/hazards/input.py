"""Hazards of the input: odd records, a new partition, an empty partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from onceproof.harness.faults.program.add_partition import AddPartition
from onceproof.harness.faults.program.empty_partition import EmptyPartition
from onceproof.harness.faults.program.odd_input import OddInput
from onceproof.harness.faults.program.restart_idle import RestartIdle
from onceproof.harness.user_pipeline.profile import (
    ABORTED,
    EMPTY,
    KEYS,
    NULL,
    ODD,
    OVERSIZE,
)
from onceproof.verify.hazards.asking import is_program, needs, no_topic, phase
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike

_STREAMS: Final = "stream"
"""The name of Kafka Streams' assignor."""
_BEHIND: Final = "later records of every partition had effects"
_NOT_SHOWN: Final = "the dry run did not show that it continues after them"
_UNCOMMITTED: Final = (
    "it reads with read_uncommitted, so records of aborted transactions have effects; if its "
    "input can have any, give --transactional-input"
)
_NO_SPARK_OR_UPSERTS: Final = "all pipelines except Spark jobs and upserts"


def _odd_unless(kind: str) -> Callable[[Pipeline], str | None]:
    def unless(pipeline: Pipeline) -> str | None:
        profile = pipeline.profile
        if pipeline.fed:
            return no_topic(pipeline)
        if kind in pipeline.odd_orders:
            return None
        if pipeline.plain_data:
            return "--plain-data excludes it"
        if kind != ABORTED and len(pipeline.inputs) > 1:
            return "with several inputs, a record may have to match another, and this one would not"
        if kind == ABORTED and (pipeline.transactional_input or pipeline.spark):
            return None if pipeline.transactional_input or profile.read_committed else _UNCOMMITTED
        if kind == ABORTED and profile.read_committed is False and not profile.transactional_ids:
            return _UNCOMMITTED
        if kind in profile.survives and kind != OVERSIZE:
            return None
        if kind == KEYS or kind in profile.survives:
            return "only generated orders contain it, and not for upserts or Spark jobs"
        if kind in profile.ends_at:
            return f"in the dry run, it ended at {ODD[kind]}"
        if not profile.ends_at:
            return f"{_NOT_SHOWN}, or their effects carry no identity"
        return f"{_NOT_SHOWN}; it ended at {ODD[profile.ends_at[-1]]}"

    return unless


def _odd(kind: str) -> Callable[[Pipeline, int], Sequence[Strike]]:
    return lambda pipeline, n: [
        Strike(
            do=OddInput(
                records=kind,
                orders=kind in pipeline.odd_orders,
                phase=phase(n),
                spark=pipeline.spark,
            )
        )
    ]


def _partition_added(pipeline: Pipeline) -> str | None:
    if pipeline.fed:
        return no_topic(pipeline)
    if not is_program(pipeline):
        return "a Spark job discovers new partitions by itself"
    if pipeline.group is not None and _STREAMS in pipeline.group.assignors:
        return "Kafka Streams stops permanently if the input of a stateful task gets a partition"
    if pipeline.upserts:
        return "the values of a key would come from two partitions, in no defined order"
    if len(pipeline.inputs) > 1:
        return "its inputs would no longer be co-partitioned"
    return None


def _empty_unless(pipeline: Pipeline) -> str | None:
    if EMPTY in pipeline.odd_orders:
        return None
    if pipeline.fed:
        return no_topic(pipeline)
    if pipeline.plain_data:
        return "--plain-data excludes it"
    if len(pipeline.inputs) > 1:
        return "only a single input starts with an empty partition"
    return (
        "only generated orders leave one of three or more partitions empty, and not for upserts, "
        "Spark jobs or event times"
    )


BEGINNING: Final[tuple[Hazard, ...]] = (
    Hazard(
        name=EMPTY,
        says="a partition of its input is empty while it reads the others",
        of=f"{_NO_SPARK_OR_UPSERTS}, if the input has three or more partitions",
        proof="a partition was empty when the pipeline wrote",
        unless=_empty_unless,
        strikes=lambda p, n: [Strike(do=EmptyPartition())],
        rare=True,
    ),
)
"""Hazards at the start of the input, first in a round."""
INPUT: Final[tuple[Hazard, ...]] = (
    Hazard(
        name=ABORTED,
        says="its input contains records of an aborted transaction",
        of="all pipelines with --transactional-input; otherwise Spark jobs that use "
        "read_committed, and other pipelines that use it or transactions and continued after such "
        "records in the dry run",
        proof=f"{_BEHIND}, or were committed by the Spark job",
        unless=_odd_unless(ABORTED),
        strikes=_odd(ABORTED),
        side_by_side=True,
    ),
    Hazard(
        name=NULL,
        says="its input contains records with a null value",
        of="pipelines that continued after such records in the dry run",
        proof=_BEHIND,
        unless=_odd_unless(NULL),
        strikes=_odd(NULL),
        side_by_side=True,
    ),
    Hazard(
        name=OVERSIZE,
        says="its input contains records larger than brokers accept by default (1.1 MB)",
        of="pipelines that continued after such a record in the dry run",
        proof=_BEHIND,
        unless=_odd_unless(OVERSIZE),
        strikes=_odd(OVERSIZE),
        side_by_side=True,
        rare=True,
    ),
    Hazard(
        name=KEYS,
        says="its input contains records with an empty key, and records with several headers of "
        "the same name",
        of=_NO_SPARK_OR_UPSERTS,
        proof=_BEHIND,
        unless=_odd_unless(KEYS),
        strikes=_odd(KEYS),
        side_by_side=True,
        rare=True,
    ),
    Hazard(
        name="partition-added",
        says="a partition is added to its input and receives records",
        of=_NO_SPARK_OR_UPSERTS,
        proof="the new partition had inputs, and they had effects or the pipeline was restarted",
        unless=_partition_added,
        strikes=lambda p, n: [Strike(do=AddPartition())],
        side_by_side=True,
        rare=True,
    ),
    Hazard(
        name="restarted-idle",
        says="it is killed after it has read the whole input, and restarts with nothing to read",
        of="pipelines that read over observed links",
        proof="a gate recorded that it fetched when there were no new records",
        unless=needs(
            lambda p: is_program(p) and p.profile.watched and not p.fed,
            "its reads cannot be observed here",
        ),
        strikes=lambda p, n: [Strike(do=RestartIdle(fetch=p.profile.fetch))],
        rare=True,
    ),
)
