"""How a PySpark query is triggered: availableNow, processing time, two queries in one driver.

With `availableNow` a stream is a batch job that is started again and again. Two queries in one
driver die together, and each numbers its batches itself: a guard by batch id alone loses records.
"""

from __future__ import annotations

from dataclasses import replace

from onceproof.checkers.model import Claim, Expectation
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.sinks.two_tables import TABLES, VIEW
from onceproof.harness.subjects.spark.available_now import SparkAvailableNow
from onceproof.harness.subjects.spark.restarted_driver import WORKED_OFF
from onceproof.harness.subjects.spark.two_queries import SparkTwoQueries
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios.base import DUPLICATES, HOLDS, LOST, REPLAYED_BATCH, claims

_PAYMENTS = Payments(records=8_000, producers=2, keys=64, partitions=3)


def _claims(
    sink: str, *hazards: str, least: Expectation = HOLDS, exactly: Expectation = HOLDS
) -> tuple[Claim, ...]:
    topic = _PAYMENTS.topic
    return claims(topic, sink, VIEW, least=least, exactly=exactly, hazards=hazards)


_AVAILABLE = SparkAvailableNow()
_UNGUARDED = SparkAvailableNow(guard="none")
_TWO = SparkTwoQueries()
_BATCH_ID = SparkTwoQueries(guard="batch-id")

_KILLED = ScheduledFault(
    name="killed after-sink-write",
    progress=0.1,
    do=Kill(SparkDriver(), at="after-sink-write"),
)
_PLANNED = ScheduledFault(
    name="killed after-offset-log",
    after=(_KILLED.name,),
    do=Kill(SparkDriver(), at="after-offset-log"),
)
# With availableNow a life has one batch, and on a busy machine it takes more than a minute.
_PATIENT = tuple(replace(at, seconds=300.0) for at in (_KILLED, _PLANNED))
_FIRST = replace(_KILLED, name=f"killed after-sink-write into {TABLES[0]}")
_SECOND = replace(
    _KILLED,
    name=f"killed after-sink-write into {TABLES[1]}",
    progress=0.0,
    after=(_FIRST.name,),
)

SCENARIOS = (
    Scenario(
        name=_AVAILABLE.name,
        title="PySpark with availableNow, restarted for new records, killed during a batch",
        subject=_AVAILABLE,
        workload=_PAYMENTS,
        schedule=_PATIENT,
        claims=_claims(_AVAILABLE.sink, REPLAYED_BATCH, WORKED_OFF),
        seconds=70,
    ),
    Scenario(
        name=_UNGUARDED.name,
        title="The broken twin: availableNow, without a guard against repeated batches",
        subject=_UNGUARDED,
        workload=_PAYMENTS,
        schedule=_PATIENT[:1],
        claims=_claims(_UNGUARDED.sink, REPLAYED_BATCH, WORKED_OFF, exactly=DUPLICATES),
        seconds=55,
    ),
    Scenario(
        name=_TWO.name,
        title="Two queries in one driver, each at its own pace, killed when either has "
        "written but not committed",
        subject=_TWO,
        workload=_PAYMENTS,
        schedule=(_FIRST, _SECOND),
        claims=tuple(claim for table in TABLES for claim in _claims(table, REPLAYED_BATCH)),
        seconds=60,
    ),
    Scenario(
        name=_BATCH_ID.name,
        title="The broken twin: a guard by batch id alone, which both queries share",
        subject=_BATCH_ID,
        workload=_PAYMENTS,
        schedule=(),
        # No fault is needed: the ledger records the first batch ids before the archive does.
        # How many later batches each of them loses varies, so nothing is claimed of the ledger.
        claims=_claims(TABLES[1], least=LOST, exactly=LOST),
        seconds=40,
    ),
)
