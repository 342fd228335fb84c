"""A schedule that nobody wrote: drawn from the seed, another one each time.

The story: what a written schedule tries is what somebody thought of. Here faults of brokers,
partitions and links hit whoever leads just then, in an order that nobody chose, and the driver is
killed between its sink's write and the commit. A seed that finds something finds it again.
"""

from __future__ import annotations

from checkers.claims import at_least_once, exactly_once
from checkers.model import Expectation, Verdict
from harness.drawn import Draw
from harness.scenario import Scenario
from harness.subjects.spark_foreach_batch_postgres import SparkForeachBatchPostgres
from harness.workload.payments import Payments

_PAYMENTS = Payments(records=20_000, producers=2, keys=64, partitions=3)
_GUARDED = SparkForeachBatchPostgres(guard="query-and-batch-id")
_HOLDS = Expectation(verdict=Verdict.HOLDS)
_REPLAYED = frozenset({"replayed-batch"})

SCENARIOS = (
    Scenario(
        name="drawn-postgres",
        title="Six faults of four kinds, drawn from the seed, with a table that knows its batches",
        subject=_GUARDED,
        workload=_PAYMENTS,
        schedule=(),
        draw=Draw(
            kinds=(("driver", 1), ("process", 1), ("partition", 2), ("link", 2)),
            partitions=_PAYMENTS.partitions,
        ),
        claims=(
            at_least_once(
                _PAYMENTS.topic,
                into=_GUARDED.sink,
                view=_GUARDED.view,
                hazards=_REPLAYED,
                expect=_HOLDS,
            ),
            exactly_once(
                _PAYMENTS.topic,
                into=_GUARDED.sink,
                view=_GUARDED.view,
                hazards=_REPLAYED,
                expect=_HOLDS,
            ),
        ),
        seconds=100,
    ),
)
