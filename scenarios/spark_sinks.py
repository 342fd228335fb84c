"""More sinks and sources of PySpark, each with its broken twin.

The driver is killed when part of a batch is written, when all of it is written and nothing records
that, and when the sink knows and Spark does not. A claim holds where the batch is recorded
atomically with its effects.
"""

from __future__ import annotations

from dataclasses import replace

from onceproof.checkers.model import Claim, Expectation
from onceproof.harness.context.subject import Subject
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.kafka.topic import Topic
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.sinks.files import LISTING
from onceproof.harness.subjects.spark.aborted_input import ABORTED_INPUT
from onceproof.harness.subjects.spark.delta import SparkDelta
from onceproof.harness.subjects.spark.file_sink import SparkFileSink
from onceproof.harness.subjects.spark.foreach_batch_kafka import SparkForeachBatchKafka
from onceproof.harness.subjects.spark.foreach_batch_postgres import SparkForeachBatchPostgres
from onceproof.harness.subjects.spark.foreach_batch_postgres_tasks import (
    SparkForeachBatchPostgresTasks,
)
from onceproof.harness.subjects.spark.hudi import SparkHudi
from onceproof.harness.subjects.spark.iceberg import SparkIceberg
from onceproof.harness.subjects.spark.paimon import SparkPaimon
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios.base import DUPLICATES, HOLDS, REPLAYED_BATCH, claims, violated

_PAYMENTS = Payments(records=12_000, producers=2, keys=64, partitions=3)
_UNFOUNDED = violated("unfounded-output")
_REPLAYED = frozenset({REPLAYED_BATCH})


def _killed(window: str, *, after: str | None = None) -> ScheduledFault:
    return ScheduledFault(
        name=f"killed {window}",
        progress=0.0 if after else 0.05,
        after=() if after is None else (f"killed {after}",),
        do=Kill(SparkDriver(), at=window),
    )


def _claims(
    subject: Subject,
    exactly: Expectation,
    *,
    into: tuple[str, str] | None = None,
    hazards: frozenset[str] = _REPLAYED,
) -> tuple[Claim, ...]:
    sink, view = into or (subject.sink, subject.view)
    return claims(_PAYMENTS.topic, sink, view, least=HOLDS, exactly=exactly, hazards=hazards)


_FILES = SparkFileSink()
_COMMITTED = SparkForeachBatchPostgres()
_DEFAULT = SparkForeachBatchPostgres(isolation=None)
_TOPIC = SparkForeachBatchKafka()
_TOPIC_UNGUARDED = SparkForeachBatchKafka(guard="none")
_TASKS = SparkForeachBatchPostgresTasks()
_DELTA = SparkDelta()
_DELTA_UNGUARDED = SparkDelta(guard="none")
_ICEBERG = SparkIceberg()
_ICEBERG_UNGUARDED = SparkIceberg(guard="none")
_ICEBERG_TIDIED = SparkIceberg(tidied=True)

_HUDI = SparkHudi()
_HUDI_UNGUARDED = SparkHudi(guard="none")
_PAIMON = SparkPaimon()
_PAIMON_APPEND = SparkPaimon(keyed=False)

_AFTER_WRITE = _killed("after-sink-write")


def _after_write(subject: Subject, title: str, expect: Expectation, *, seconds: int) -> Scenario:
    """Return the scenario of a driver that is killed when a batch is in the sink."""
    return Scenario(
        name=subject.name,
        title=title,
        subject=subject,
        workload=_PAYMENTS,
        schedule=(_AFTER_WRITE,),
        claims=_claims(subject, expect),
        seconds=seconds,
    )


_ABORTING = replace(_PAYMENTS, records=6_000, transaction=20, aborts=20)


def _of_aborted(subject: SparkForeachBatchPostgres, title: str, expect: Expectation) -> Scenario:
    return Scenario(
        name=f"spark-source-{'committed' if subject.isolation else 'default'}",
        title=title,
        subject=subject,
        workload=_ABORTING,
        schedule=(_AFTER_WRITE,),
        claims=_claims(subject, expect, hazards=_REPLAYED | {ABORTED_INPUT}),
        seconds=45,
    )


_KILLED_AT_ROW = ScheduledFault(
    name="killed at row", progress=0.05, do=Kill(SparkDriver(), at="row:7")
)
_KILLED_AT_END = ScheduledFault(
    name="killed during its commit",
    after=(_KILLED_AT_ROW.name,),
    # The commit reaches the broker after the driver is dead, and Spark does not know of it.
    during=Message(
        source="pipeline-sink",
        direction="request",
        api="EndTxn",
        transactional_id=_TOPIC.transactional_id,
        commits=True,
    ),
    do=Kill(SparkDriver()),
)

SCENARIOS = (
    Scenario(
        name=_FILES.name,
        title="PySpark's file sink, killed during and after its write: read by its log and, as the "
        "broken twin, by listing its directory",
        subject=_FILES,
        workload=_PAYMENTS,
        schedule=(
            _killed("during-sink-write"),
            _killed("before-sink-commit", after="during-sink-write"),
            _killed("after-sink-write", after="before-sink-commit"),
        ),
        claims=(
            *_claims(_FILES, HOLDS),
            *_claims(_FILES, DUPLICATES, into=(_FILES.listed, LISTING)),
        ),
        seconds=65,
    ),
    _of_aborted(
        _COMMITTED,
        "Spark's source with kafka.isolation.level=read_committed, from senders that abort",
        HOLDS,
    ),
    _of_aborted(
        _DEFAULT,
        "The broken twin: Spark's source with default settings, which reads aborted records too",
        _UNFOUNDED,
    ),
    Scenario(
        name=_TOPIC.name,
        title="PySpark foreachBatch into Kafka, each transaction with its batch id, killed during "
        "the write, during the commit and after it",
        subject=_TOPIC,
        workload=_PAYMENTS,
        topics=(Topic(name=_TOPIC.batches, partitions=1),),
        schedule=(
            _KILLED_AT_ROW,
            _KILLED_AT_END,
            replace(_AFTER_WRITE, progress=0.0, after=(_KILLED_AT_END.name,)),
        ),
        claims=_claims(_TOPIC, HOLDS, hazards=_REPLAYED | {"interrupted-write"}),
        seconds=65,
    ),
    Scenario(
        name=_TOPIC_UNGUARDED.name,
        title="The broken twin: foreachBatch into Kafka, transactions without a batch id",
        subject=_TOPIC_UNGUARDED,
        workload=_PAYMENTS,
        topics=(Topic(name=_TOPIC_UNGUARDED.batches, partitions=1),),
        schedule=(_AFTER_WRITE,),
        claims=_claims(_TOPIC_UNGUARDED, DUPLICATES),
        seconds=40,
    ),
    Scenario(
        name=_TASKS.name,
        title="The broken twin: each task writes to PostgreSQL in its own transaction, and the "
        "guard's row is written last",
        subject=_TASKS,
        workload=_PAYMENTS,
        schedule=(_killed("during-sink-write"),),
        claims=_claims(_TASKS, DUPLICATES),
        seconds=40,
    ),
    _after_write(
        _DELTA,
        "PySpark foreachBatch into a Delta table, with query id and batch id in each commit",
        HOLDS,
        seconds=50,
    ),
    _after_write(
        _DELTA_UNGUARDED,
        "The broken twin: a Delta table whose commits have no query id and batch id",
        DUPLICATES,
        seconds=50,
    ),
    Scenario(
        name=_ICEBERG.name,
        title="PySpark into an Iceberg table, killed before and after its commit: read by its "
        "metadata and, as the broken twin, by listing its data files",
        subject=_ICEBERG,
        workload=_PAYMENTS,
        schedule=(
            _killed("before-sink-commit"),
            _killed("after-sink-write", after="before-sink-commit"),
        ),
        claims=(
            *_claims(_ICEBERG, HOLDS),
            *_claims(_ICEBERG, DUPLICATES, into=(_ICEBERG.listed, LISTING)),
        ),
        seconds=70,
    ),
    _after_write(
        _ICEBERG_UNGUARDED,
        "The broken twin: foreachBatch appends to an Iceberg table, without query and epoch",
        DUPLICATES,
        seconds=55,
    ),
    _after_write(
        _HUDI,
        "PySpark into a Hudi table by its streaming sink, killed after its commit",
        HOLDS,
        seconds=75,
    ),
    _after_write(
        _HUDI_UNGUARDED,
        "The broken twin: foreachBatch inserts into a Hudi table, without writer and batch",
        DUPLICATES,
        seconds=75,
    ),
    _after_write(
        _PAIMON,
        "PySpark into a Paimon table with a primary key, killed after its commit",
        HOLDS,
        seconds=75,
    ),
    _after_write(
        _PAIMON_APPEND,
        "The broken twin: PySpark into a Paimon table without a primary key",
        DUPLICATES,
        seconds=75,
    ),
    _after_write(
        _ICEBERG_TIDIED,
        "The broken twin: an epoch is written again after its Iceberg snapshot expired",
        DUPLICATES,
        seconds=60,
    ),
)
