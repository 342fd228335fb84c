"""Apache Flink: transactions that are committed on checkpoints, and what ends them too early.

The job is killed at each stage of a checkpoint. Its next life starts from the newest complete one,
and must commit that and abort what came later. It cannot do so if the transactions have timed out,
if it starts without its checkpoint, or if its sink uses no transactions. What happens if a job is
replaced that is only paused depends on what it had flushed, so there is no scenario for it: see
docs/findings/flink-zombie.md.
"""

from __future__ import annotations

from dataclasses import replace

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.links.lose_requests import LoseRequests
from onceproof.harness.faults.targets.brokers import LeaderOf
from onceproof.harness.faults.targets.flink_job import IN_DOUBT, FlinkJob
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.schedule.drawn import Draw
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.flink.subject import Flink
from onceproof.harness.subjects.group.hazards import ABORTED, REPLAYED
from onceproof.scenarios.base import DUPLICATES, HOLDS, LOST, UNEXERCISED, WRONG, violated
from onceproof.scenarios.groups import WORKLOAD, claims

_EXACTLY = Flink()
_AT_LEAST = Flink(guarantee="at-least-once")
_NOT_RESTORED = Flink(restored=False)
_HASTY = Flink(transaction_timeout_ms=5_000)
_BALANCES = Flink(balances=True)
_BALANCES_NOT_RESTORED = Flink(balances=True, restored=False, start="group")
_EARLIER = Flink(version="1.20.1")


def _killed(window: str, *, after: str | None = None, outage: float = 0.0) -> ScheduledFault:
    return ScheduledFault(
        name=f"killed {window}",
        progress=0.0 if after else 0.1,
        after=() if after is None else (f"killed {after}",),
        do=Kill(FlinkJob(outage=outage), at=window),
    )


_COMPLETE = _killed("checkpoint-complete")
_OUTAGE = _killed("checkpoint-complete", outage=10.0)
_SINK_CUT = ScheduledFault(
    name="sink cut",
    progress=0.1,
    do=CutLink(source="pipeline-sink", target=LeaderOf(topic=_EXACTLY.sink, partition=0)),
    until=Acknowledged(records=600),
)
_REQUESTS_LOST = ScheduledFault(
    name="sink requests lost",
    after=(_SINK_CUT.name,),
    do=LoseRequests(source="pipeline-sink", target=LeaderOf(topic=_EXACTLY.sink, partition=1)),
    until=Acknowledged(records=1_200),
)
_SOURCE_CUT = ScheduledFault(
    name="source cut",
    after=(_REQUESTS_LOST.name,),
    do=CutLink(source="pipeline", target=LeaderOf(partition=2)),
    until=Acknowledged(records=600),
)
_EVERYTHING = frozenset({ABORTED, REPLAYED, IN_DOUBT})
_WINDOWS = Scenario(
    name=_EXACTLY.name,
    title="Flink, exactly-once: killed when a checkpoint has begun, is flushed and is complete",
    subject=_EXACTLY,
    workload=WORKLOAD,
    schedule=(
        _killed("checkpoint-begun"),
        _killed("checkpoint-flushed", after="checkpoint-begun"),
        _killed("checkpoint-complete", after="checkpoint-flushed"),
    ),
    claims=claims(_EXACTLY, most=HOLDS, least=HOLDS, exactly=HOLDS, hazards=_EVERYTHING),
    seconds=55,
)

SCENARIOS = (
    replace(
        _WINDOWS,
        name=f"{_EXACTLY.name}-quiet",
        title="Flink, exactly-once, without faults: nothing goes wrong, and nothing is tested",
        schedule=(),
        claims=claims(_EXACTLY, most=UNEXERCISED, least=UNEXERCISED, exactly=UNEXERCISED),
        seconds=30,
    ),
    _WINDOWS,
    replace(
        _WINDOWS,
        name=f"{_EXACTLY.name}-outage",
        title="Flink, exactly-once: killed after a checkpoint, and down for ten seconds",
        schedule=(_OUTAGE,),
        claims=claims(
            _EXACTLY, most=HOLDS, least=HOLDS, exactly=HOLDS, hazards=frozenset({IN_DOUBT})
        ),
        seconds=45,
    ),
    replace(
        _WINDOWS,
        name=_HASTY.name,
        title="The broken twin: transactions time out before the job is back, and are lost",
        subject=_HASTY,
        schedule=(_OUTAGE,),
        claims=claims(
            _HASTY,
            most=HOLDS,
            least=LOST,
            exactly=LOST,
            hazards=frozenset({IN_DOUBT}),
        ),
        seconds=45,
    ),
    replace(
        _WINDOWS,
        name=_AT_LEAST.name,
        title="The broken twin: Flink's sink without transactions, killed during a checkpoint",
        subject=_AT_LEAST,
        schedule=(_killed("checkpoint-flushed"),),
        claims=claims(
            _AT_LEAST,
            most=DUPLICATES,
            least=HOLDS,
            exactly=DUPLICATES,
            hazards=frozenset({REPLAYED}),
        ),
        seconds=40,
    ),
    replace(
        _WINDOWS,
        name=_NOT_RESTORED.name,
        title="The broken twin: the job is restarted without its checkpoint",
        subject=_NOT_RESTORED,
        schedule=(_COMPLETE,),
        claims=claims(
            _NOT_RESTORED,
            most=DUPLICATES,
            least=HOLDS,
            exactly=violated("duplicate-output", "offset-regressed"),
            hazards=frozenset({REPLAYED}),
        ),
        seconds=40,
    ),
    replace(
        _WINDOWS,
        name=_BALANCES.name,
        title="Flink, exactly-once, with state: every balance is right to the cent",
        subject=_BALANCES,
        claims=claims(_BALANCES, most=None, least=None, exactly=HOLDS, hazards=_EVERYTHING),
    ),
    replace(
        _WINDOWS,
        name=_BALANCES_NOT_RESTORED.name,
        title="The broken twin: restarted from its group's committed offsets, without its state",
        subject=_BALANCES_NOT_RESTORED,
        schedule=(_killed("checkpoint-begun"),),
        claims=claims(
            _BALANCES_NOT_RESTORED,
            most=None,
            least=None,
            exactly=WRONG,
            hazards=frozenset({REPLAYED}),
        ),
        seconds=40,
    ),
    replace(
        _WINDOWS,
        name=f"{_EXACTLY.name}-network",
        title="Flink, exactly-once: sink and source cut off, sink requests lost, then killed",
        # Enough records for all faults: each lasts until some more are acknowledged.
        workload=replace(WORKLOAD, records=12_000),
        schedule=(
            _SINK_CUT,
            _REQUESTS_LOST,
            _SOURCE_CUT,
            replace(_COMPLETE, progress=0.0, after=(_SOURCE_CUT.name,)),
        ),
        claims=claims(
            _EXACTLY, most=HOLDS, least=HOLDS, exactly=HOLDS, hazards=frozenset({IN_DOUBT})
        ),
    ),
    replace(
        _WINDOWS,
        name=f"{_EXACTLY.name}-drawn",
        title=f"{_EXACTLY.name}: killed, then three faults of three kinds, drawn from the seed",
        schedule=(),
        draw=Draw(
            kinds=(("process", 1), ("partition", 1), ("link", 1)),
            partitions=WORKLOAD.partitions,
            first=(_COMPLETE,),
            audiences=("producer", "pipeline", "pipeline-sink"),
        ),
        claims=claims(
            _EXACTLY, most=HOLDS, least=HOLDS, exactly=HOLDS, hazards=frozenset({IN_DOUBT})
        ),
        seconds=60,
    ),
    replace(
        _WINDOWS,
        name=_EARLIER.name,
        title="Flink 1.20, exactly-once: killed when a checkpoint has begun, is flushed and is "
        "complete",
        subject=_EARLIER,
        claims=claims(_EARLIER, most=HOLDS, least=HOLDS, exactly=HOLDS, hazards=_EVERYTHING),
    ),
)
