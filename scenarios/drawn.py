"""Random schedules, drawn from the seed.

A written schedule tests only what its author thought of. Here faults of brokers, partitions and
links hit the current leaders in random order. Producers, transactions and groups first get the
fault that is certain to exercise their claim. kafka-python is excluded: it hangs as soon as a
coordinator is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onceproof.harness.schedule.drawn import Draw
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.spark.foreach_batch_postgres import SparkForeachBatchPostgres
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios import groups, idempotent_producers, streams, transactional_producers
from onceproof.scenarios.base import HOLDS, claims

_PAYMENTS = Payments(records=20_000, producers=2, keys=64, partitions=3)
_GUARDED = SparkForeachBatchPostgres(guard="query-and-batch-id")
_CLIENTS = ("librdkafka", "aiokafka", "java")
_GROUPS = ("consume-transform-produce", "consume-transform-produce-java", "kafka-streams")


def _drawn(scenario: Scenario, first: ScheduledFault, *audiences: str) -> Scenario:
    """Return a scenario whose schedule is drawn, after one fixed fault."""
    return replace(
        scenario,
        name=f"{scenario.name}-drawn",
        title=f"{scenario.subject.name}: three faults of three kinds, drawn from the seed",
        schedule=(),
        draw=Draw(
            kinds=(("process", 1), ("partition", 1), ("link", 1)),
            partitions=scenario.workload.partitions,
            first=(first,),
            audiences=audiences,
        ),
        seconds=60,
    )


def _of_producers() -> Iterator[Scenario]:
    for module in (idempotent_producers, transactional_producers):
        for scenario in module.SCENARIOS:
            if scenario.name.partition("-")[2] in _CLIENTS:
                yield _drawn(scenario, scenario.schedule[0], "producer")


def _of_groups() -> Iterator[Scenario]:
    for module in (groups, streams):
        for scenario in module.SCENARIOS:
            if scenario.name in _GROUPS:
                killed = replace(scenario.schedule[-1], after=(), progress=0.1)
                yield _drawn(scenario, killed, "producer", "pipeline")


SCENARIOS = (
    Scenario(
        name="drawn-postgres",
        title="Six faults of four kinds, drawn from the seed, with a guarded PostgreSQL table",
        subject=_GUARDED,
        workload=_PAYMENTS,
        schedule=(),
        draw=Draw(
            kinds=(("driver", 1), ("process", 1), ("partition", 2), ("link", 2)),
            partitions=_PAYMENTS.partitions,
        ),
        claims=claims(_PAYMENTS.topic, _GUARDED.sink, _GUARDED.view, least=HOLDS, exactly=HOLDS),
        seconds=100,
    ),
    *_of_producers(),
    *_of_groups(),
)
