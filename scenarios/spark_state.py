"""PySpark's stateful operators, with their state in RocksDB.

The driver is killed when only some partitions of the state have a batch, and when the sink has it
and the commit log does not: the state must be rolled back, and rewritten output must not count
twice. Event times are out of order by up to twenty minutes; no fault makes a payment later than
that, since one producer sends them to one partition. The broken twins lack the guard, keep their
state where it is not rolled back, or have too short a watermark.
"""

from __future__ import annotations

from dataclasses import replace

from onceproof.checkers.model import Expectation
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.targets.brokers import LeaderOf
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.spark.deduplicated import SparkDeduplicated
from onceproof.harness.subjects.spark.matches import SparkMatches
from onceproof.harness.subjects.spark.statements import SparkStatements
from onceproof.harness.subjects.spark.windows import SparkWindows
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios.base import (
    DUPLICATES,
    HOLDS,
    LOST,
    REPLAYED_BATCH,
    UNEXERCISED,
    WRONG,
    claims,
)

_TIMED = Payments(
    records=6_000,
    producers=1,
    keys=8,
    partitions=1,
    event_step_ms=1_000,
    disorder_ms=1_200_000,
)
_PAYMENTS = Payments(records=6_000, producers=2, keys=32, partitions=3)
_REFUNDED = replace(_TIMED, other_topic="refunds", refunds=True)
_REPEATED = replace(_TIMED, repeats=20)
_IN_STATE = "half-committed-state"


def _killed(*windows: str) -> tuple[ScheduledFault, ...]:
    return tuple(
        ScheduledFault(
            name=f"killed {window}",
            progress=0.0 if place else 0.1,
            after=tuple(f"killed {earlier}" for earlier in windows[place - 1 : place]),
            do=Kill(SparkDriver(), at=window),
        )
        for place, window in enumerate(windows)
    )


def _of_statements(
    subject: SparkStatements, title: str, balances: Expectation, *windows: str
) -> Scenario:
    """Claim everything of the rows, and of the balances what can be claimed of a sum."""
    hazards = {REPLAYED_BATCH, *((_IN_STATE,) if len(windows) > 1 else ())}
    topic, rows, view = _PAYMENTS.topic, subject.sink, subject.view
    return Scenario(
        name=subject.name,
        title=title,
        subject=subject,
        workload=_PAYMENTS,
        schedule=_killed(*windows),
        claims=(
            *claims(topic, rows, view, most=HOLDS, least=HOLDS, exactly=HOLDS, hazards=hazards),
            *claims(topic, subject.balances_sink, view, exactly=balances, hazards=hazards),
        ),
        seconds=30 + 15 * len(windows),
    )


def _of_rows(
    subject: SparkMatches | SparkDeduplicated,
    title: str,
    workload: Payments,
    schedule: tuple[ScheduledFault, ...],
    *,
    least: Expectation = HOLDS,
    exactly: Expectation = HOLDS,
) -> Scenario:
    return Scenario(
        name=subject.name,
        title=title,
        subject=subject,
        workload=workload,
        schedule=schedule,
        claims=claims(
            workload.topic,
            subject.sink,
            subject.view,
            least=least,
            exactly=exactly,
            deduplicates=isinstance(subject, SparkDeduplicated),
        ),
        seconds=25 + 15 * len(schedule),
    )


def _of_windows(
    subject: SparkWindows,
    title: str,
    schedule: tuple[ScheduledFault, ...],
    expect: Expectation,
    *hazards: str,
) -> Scenario:
    return Scenario(
        name=subject.name,
        title=title,
        subject=subject,
        workload=_TIMED,
        schedule=schedule,
        claims=claims(_TIMED.topic, subject.sink, subject.view, exactly=expect, hazards=hazards),
        seconds=25 + 15 * len(schedule),
    )


_BOTH = _killed("during-state-commit", "after-sink-write")
_AFTER_WRITE = _killed("after-sink-write")
_REFUNDS_KILLED = ScheduledFault(
    name="leader of refunds killed",
    after=(_AFTER_WRITE[-1].name,),
    do=Kill(LeaderOf(topic="refunds", partition=0)),
)

SCENARIOS = (
    _of_windows(
        SparkWindows(),
        "PySpark windows in append mode, guarded, killed during the state's commit and after the "
        "write",
        _BOTH,
        HOLDS,
        _IN_STATE,
        REPLAYED_BATCH,
    ),
    _of_windows(
        SparkWindows(guard="none"),
        "The broken twin: windows in append mode without a guard, written twice",
        _AFTER_WRITE,
        WRONG,
        REPLAYED_BATCH,
    ),
    _of_windows(
        SparkWindows(watermark_ms=5_000),
        "The broken twin: a watermark that does not wait for out-of-order payments",
        (),
        WRONG,
    ),
    _of_windows(
        SparkWindows(mode="update", guard="none"),
        "PySpark windows in update mode, overwriting earlier values, killed during the "
        "state's commit and after the write",
        _BOTH,
        HOLDS,
        _IN_STATE,
        REPLAYED_BATCH,
    ),
    _of_windows(
        SparkWindows(mode="add", guard="none"),
        "The broken twin: windows without state in Spark, added up in the table without a guard",
        _AFTER_WRITE,
        WRONG,
        REPLAYED_BATCH,
    ),
    _of_statements(
        SparkStatements(),
        "PySpark's transformWithStateInPandas, a running balance, killed during the state's "
        "commit and after the write",
        HOLDS,
        "during-state-commit",
        "after-sink-write",
    ),
    _of_statements(
        SparkStatements(store="home-made"),
        "The broken twin: balances that the processor keeps in files, which are not rolled back",
        WRONG,
        "after-sink-write",
    ),
    _of_rows(
        SparkMatches(),
        "PySpark's join of payments and refunds, guarded: the driver killed after the write, then "
        "the leader of one topic",
        _REFUNDED,
        (*_AFTER_WRITE, _REFUNDS_KILLED),
    ),
    _of_rows(
        SparkMatches(guard="none"),
        "The broken twin: a join without a guard, whose matches are written twice",
        _REFUNDED,
        _AFTER_WRITE,
        exactly=DUPLICATES,
    ),
    _of_rows(
        SparkMatches(watermark_ms=5_000),
        "The broken twin: a join whose watermark does not wait for out-of-order records",
        _REFUNDED,
        (),
        least=LOST,
        exactly=LOST,
    ),
    _of_rows(
        SparkDeduplicated(),
        "PySpark's dropDuplicatesWithinWatermark, for payments that the application resends, "
        "killed during the state's commit and after the write",
        _REPEATED,
        _BOTH,
    ),
    _of_rows(
        SparkDeduplicated(within="batch"),
        "The broken twin: duplicates dropped only within each micro-batch",
        _REPEATED,
        (),
        least=UNEXERCISED,  # it duplicates without any fault
        exactly=DUPLICATES,
    ),
)
