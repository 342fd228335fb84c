"""A Spark driver killed at each crash point of a micro-batch, one after the other.

A kill before the sink has the batch, or after the batch's commit, duplicates nothing. In between,
the outcome depends on the sink: Kafka gets the records again, the guarded table skips them. A write
in one transaction is rolled back and needs no guard. If only some partitions of a query's state
have the batch, the outcome depends on the state store: Spark's own returns to the previous version,
a home-made one may not.
"""

from __future__ import annotations

from dataclasses import replace

from onceproof.checkers.model import Expectation
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.spark.balances import SparkBalances
from onceproof.harness.subjects.spark.foreach_batch_postgres import SparkForeachBatchPostgres
from onceproof.harness.subjects.spark.kafka_sink import SparkKafkaSink
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios.base import DUPLICATES, HOLDS, WRONG, claims

_PAYMENTS = Payments(records=20_000, producers=2, keys=64, partitions=3)


def _in_sequence(*windows: str) -> tuple[ScheduledFault, ...]:
    names = [f"killed {window}" for window in windows]
    return tuple(
        ScheduledFault(
            name=name,
            progress=0.0 if place else 0.05,
            after=tuple(names[place - 1 : place]),
            do=Kill(SparkDriver(), at=window),
        )
        for place, (name, window) in enumerate(zip(names, windows, strict=True))
    )


def _in_state_commit(
    name: str, title: str, subject: SparkBalances, expect: Expectation
) -> Scenario:
    return Scenario(
        name=name,
        title=title,
        subject=subject,
        workload=replace(_PAYMENTS, records=12_000),
        schedule=_in_sequence("during-state-commit"),
        claims=claims(
            _PAYMENTS.topic,
            subject.sink,
            subject.view,
            exactly=expect,
            hazards={"half-committed-state"},
        ),
        seconds=60,
    )


_GUARDED = SparkForeachBatchPostgres(guard="query-and-batch-id")
_UNGUARDED = SparkForeachBatchPostgres(guard="none")
_KAFKA = SparkKafkaSink()

SCENARIOS = (
    Scenario(
        name="crash-points-postgres",
        title="The driver killed before a write to a guarded table, after it, and after the commit",
        subject=_GUARDED,
        workload=_PAYMENTS,
        # The table shows a batch as a whole or not at all: there is no during-sink-write window.
        schedule=_in_sequence("after-offset-log", "after-sink-write", "after-commit"),
        claims=claims(_PAYMENTS.topic, _GUARDED.sink, _GUARDED.view, least=HOLDS, exactly=HOLDS),
        seconds=70,
    ),
    Scenario(
        name="crash-points-kafka",
        title="The driver killed before, during and after a write to Kafka, and after the commit",
        subject=_KAFKA,
        workload=_PAYMENTS,
        schedule=_in_sequence(
            "after-offset-log", "during-sink-write", "after-sink-write", "after-commit"
        ),
        claims=claims(_PAYMENTS.topic, _KAFKA.sink, _KAFKA.view, least=HOLDS, exactly=DUPLICATES),
        seconds=85,
    ),
    Scenario(
        name="crash-at-row-postgres",
        title="The driver killed after the 7th row of a write in one transaction, without a guard",
        subject=_UNGUARDED,
        workload=replace(_PAYMENTS, records=8_000),
        schedule=(
            ScheduledFault(name="killed at row", progress=0.1, do=Kill(SparkDriver(), at="row:7")),
        ),
        claims=claims(
            _PAYMENTS.topic,
            _UNGUARDED.sink,
            _UNGUARDED.view,
            least=HOLDS,
            exactly=HOLDS,
            hazards={"interrupted-write"},
        ),
        seconds=45,
    ),
    _in_state_commit(
        "crash-in-state-commit",
        "The driver killed when part of the state has a batch: every balance is correct",
        SparkBalances(),
        HOLDS,
    ),
    _in_state_commit(
        "crash-in-state-commit-home-made",
        "The broken twin: state in the job's own files, which are not rolled back",
        SparkBalances(store="home-made"),
        WRONG,
    ),
)
