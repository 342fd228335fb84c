"""The flagship: three PySpark pipelines under one schedule of crash, partition and time-out.

The driver is killed between its sink's write and the batch's commit, and brokers are killed,
isolated and cut off. Of the three pipelines, only the guarded one is expected to be exactly-once.
"""

from __future__ import annotations

from onceproof.checkers.claims import exactly_once_append
from onceproof.checkers.model import Claim, Expectation
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.links.isolate_broker import IsolateBroker
from onceproof.harness.faults.links.lose_responses import LoseResponses
from onceproof.harness.faults.targets.brokers import LeaderOf
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.spark.foreach_batch_postgres import SparkForeachBatchPostgres
from onceproof.harness.subjects.spark.kafka_sink import SparkKafkaSink
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios.base import DUPLICATES, HOLDS, claims

PAYMENTS = Payments(records=20_000, producers=2, keys=64, partitions=3)

SCHEDULE = (
    ScheduledFault(name="leader killed", progress=0.05, do=Kill(LeaderOf(partition=0))),
    ScheduledFault(
        name="driver killed",
        after=("leader killed",),
        do=Kill(SparkDriver(), at="after-sink-write"),
    ),
    ScheduledFault(
        name="responses lost",
        after=("leader killed",),
        do=LoseResponses(target=LeaderOf(partition=1)),
    ),
    ScheduledFault(
        name="broker isolated",
        after=("driver killed", "responses lost"),
        do=IsolateBroker(target=LeaderOf(partition=2)),
    ),
    ScheduledFault(
        name="pipeline cut",
        after=("broker isolated",),
        do=CutLink(source="pipeline", target=LeaderOf(partition=1)),
        until=Acknowledged(records=400),
    ),
)


def _claims(sink: str, view: str, expect: Expectation) -> tuple[Claim, ...]:
    """Return the claims that every pipeline of the flagship is judged against."""
    topic = PAYMENTS.topic
    return (
        exactly_once_append(topic, hazards={"retried-send"}, expect=HOLDS),
        *claims(topic, sink, view, most=expect, least=HOLDS, exactly=expect),
    )


GUARDED = SparkForeachBatchPostgres(guard="query-and-batch-id")
UNGUARDED = SparkForeachBatchPostgres(guard="none")
KAFKA = SparkKafkaSink()

SCENARIOS = (
    Scenario(
        name=GUARDED.name,
        title="PySpark into PostgreSQL, guarded by (query id, batch id), under crashes, a network "
        "partition and lost responses",
        subject=GUARDED,
        workload=PAYMENTS,
        schedule=SCHEDULE,
        claims=_claims(GUARDED.sink, GUARDED.view, HOLDS),
    ),
    Scenario(
        name=UNGUARDED.name,
        title="The broken twin: the same pipeline without its guard, under the same faults",
        subject=UNGUARDED,
        workload=PAYMENTS,
        schedule=SCHEDULE,
        claims=_claims(UNGUARDED.sink, UNGUARDED.view, DUPLICATES),
    ),
    Scenario(
        name=KAFKA.name,
        title="PySpark's own Kafka sink, which promises at-least-once, under the same faults",
        subject=KAFKA,
        workload=PAYMENTS,
        schedule=SCHEDULE,
        claims=_claims(KAFKA.sink, KAFKA.view, DUPLICATES),
    ),
)
