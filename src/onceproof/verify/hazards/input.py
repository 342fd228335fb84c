"""Hazards of what is in the input: odd records, a new partition, nothing at all."""

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
from onceproof.verify.hazards.asking import is_program, needs, phase
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike

_STREAMS: Final = "stream"
"""How Kafka Streams calls its assignor."""
_BEHIND: Final = "what came behind them in every partition had effects"


def _odd_unless(kind: str) -> Callable[[Pipeline], str | None]:
    def unless(pipeline: Pipeline) -> str | None:
        profile = pipeline.profile
        if kind in pipeline.odd_orders:
            return None
        if pipeline.plain_data:
            return "--plain-data leaves it out"
        if kind == ABORTED and profile.read_committed is False and not profile.transactional_ids:
            return "it reads with read_uncommitted, so that what is aborted has effects"
        if kind in profile.survives and kind != OVERSIZE:
            return None
        if kind == KEYS or kind in profile.survives:
            return "only orders that are made up have it, and not for upserts or Spark jobs"
        if kind in profile.ends_at:
            return f"it ended at {ODD[kind]} in its dry run"
        if not profile.ends_at:
            return "it was not seen to go on behind them, or its effects of them name no input"
        return f"it was not seen to go on behind them; it ended at {ODD[profile.ends_at[-1]]}"

    return unless


def _odd(kind: str) -> Callable[[Pipeline, int], Sequence[Strike]]:
    return lambda pipeline, n: [
        Strike(do=OddInput(records=kind, orders=kind in pipeline.odd_orders, phase=phase(n)))
    ]


def _partition_added(pipeline: Pipeline) -> str | None:
    if not is_program(pipeline):
        return "a Spark job finds new partitions by itself"
    if pipeline.group is not None and _STREAMS in pipeline.group.assignors:
        return "Kafka Streams ends for good when the input of a task with state grows"
    if pipeline.upserts:
        return "the values of a key would come from two partitions, in no order"
    return None


def _empty_unless(pipeline: Pipeline) -> str | None:
    if EMPTY in pipeline.odd_orders:
        return None
    if pipeline.plain_data:
        return "--plain-data leaves it out"
    return "only orders that are made up leave one of three empty, and not for upserts or Spark"


BEGINNING: Final[tuple[Hazard, ...]] = (
    Hazard(
        name=EMPTY,
        says="a partition of its input is empty while it reads the others",
        of="any but Spark and upserts, with an input of three partitions or more",
        proof="a partition held nothing when the pipeline wrote",
        unless=_empty_unless,
        strikes=lambda p, n: [Strike(do=EmptyPartition())],
        rare=True,
    ),
)
"""How the input begins; what comes first in a round."""
INPUT: Final[tuple[Hazard, ...]] = (
    Hazard(
        name=ABORTED,
        says="its input holds records of an aborted transaction",
        of="reads with read_committed or is transactional, and went on behind them in the dry run",
        proof=_BEHIND,
        unless=_odd_unless(ABORTED),
        strikes=_odd(ABORTED),
        side_by_side=True,
    ),
    Hazard(
        name=NULL,
        says="its input holds records with a null value",
        of="went on behind them in the dry run",
        proof=_BEHIND,
        unless=_odd_unless(NULL),
        strikes=_odd(NULL),
        side_by_side=True,
    ),
    Hazard(
        name=OVERSIZE,
        says="its input holds records larger than brokers take by default (1.1 MB)",
        of="went on behind one in the dry run",
        proof=_BEHIND,
        unless=_odd_unless(OVERSIZE),
        strikes=_odd(OVERSIZE),
        side_by_side=True,
        rare=True,
    ),
    Hazard(
        name=KEYS,
        says="its input holds records with an empty key, and with several headers of one name",
        of="any but Spark and upserts",
        proof=_BEHIND,
        unless=_odd_unless(KEYS),
        strikes=_odd(KEYS),
        side_by_side=True,
        rare=True,
    ),
    Hazard(
        name="partition-added",
        says="a partition is added to its input, and inputs go there",
        of="any but Spark and upserts",
        proof="inputs stood in the new partition; it had effects of them, or was started again",
        unless=_partition_added,
        strikes=lambda p, n: [Strike(do=AddPartition())],
        side_by_side=True,
        rare=True,
    ),
    Hazard(
        name="restarted-idle",
        says="it is killed when it has read everything, and starts with nothing new to read",
        of="reads over links that are watched",
        proof="a gate saw it ask for records when there were none",
        unless=needs(
            lambda p: is_program(p) and p.profile.watched, "nobody sees here whether it reads"
        ),
        strikes=lambda p, n: [Strike(do=RestartIdle(fetch=p.profile.fetch))],
        rare=True,
    ),
)
