"""Damaged checkpoints: entries of Spark's logs lost or torn, or the whole checkpoint replaced.

Without the last commit log entry, Spark runs a batch again that is in the sink. Without its offset
log entry too, Spark plans a different batch with the same id, and a guard skips records that it has
never seen: no guarantee covers that, so the verdict is `unknown` and the finding is shown. A torn
entry must keep Spark from starting until it is repaired. With a new checkpoint, a job that takes
its starting offsets from its table continues correctly if its guard includes the query id.
"""

from __future__ import annotations

from dataclasses import replace

from onceproof.checkers.fine_print import standard_fine_print
from onceproof.checkers.model import Claim, Expectation, Verdict
from onceproof.harness.context.subject import Subject
from onceproof.harness.faults.spark.cut_offset_log import CutOffsetLog
from onceproof.harness.faults.spark.delete_last_commit import DeleteLastCommit
from onceproof.harness.faults.spark.new_checkpoint import NewCheckpoint
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.spark.foreach_batch_postgres import SparkForeachBatchPostgres
from onceproof.harness.subjects.spark.hudi import SparkBehindHudi
from onceproof.harness.subjects.spark.kafka_sink import SparkKafkaSink
from onceproof.harness.subjects.spark.resume_behind_sink import SparkBehindLedger
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios.base import DUPLICATES, HOLDS, LOST, claims

_PAYMENTS = Payments(records=8_000, producers=2, keys=64, partitions=3)
_UNKNOWN = Expectation(verdict=Verdict.UNKNOWN)
_COMMIT_LOST = (ScheduledFault(name="commit entry lost", progress=0.1, do=DeleteLastCommit()),)
_PLAN_TORN = (ScheduledFault(name="offset entry torn", progress=0.1, do=CutOffsetLog(how="torn")),)
_PLAN_LOST = (
    ScheduledFault(name="offset entry lost", progress=0.1, do=CutOffsetLog(how="deleted")),
)
_NEW_CHECKPOINT = (ScheduledFault(name="new checkpoint", progress=0.1, do=NewCheckpoint()),)


def _claims(
    subject: Subject, hazard: str, *, least: Expectation = HOLDS, exactly: Expectation = HOLDS
) -> tuple[Claim, ...]:
    sink, view = subject.sink, subject.view
    return claims(_PAYMENTS.topic, sink, view, least=least, exactly=exactly, hazards={hazard})


def _covering_new_checkpoint(claim: Claim) -> Claim:
    """Extend a claim's fine print to cover a new checkpoint."""
    standard = claim.fine_print
    lost = standard_fine_print(claim.guarantee, claim.hop, state="the table")
    return replace(
        claim,
        fine_print=replace(
            standard,
            failures=f"{standard.failures} A new checkpoint, at any time.",
            not_tested=lost.not_tested,
            covers=standard.covers | {NewCheckpoint.kind},
        ),
    )


_GUARDED = SparkForeachBatchPostgres(guard="query-and-batch-id")
_KAFKA = SparkKafkaSink()
_BEHIND = SparkBehindLedger()
_BATCH_ID = SparkBehindLedger(guard="batch-id")
_HUDI_OWN_WRITER = SparkBehindHudi(guard="checkpoint-and-batch-id")
_HUDI = SparkBehindHudi()

SCENARIOS = (
    Scenario(
        name="commit-lost-postgres",
        title="The last entry of the commit log lost, with a guarded PostgreSQL table",
        subject=_GUARDED,
        workload=_PAYMENTS,
        schedule=_COMMIT_LOST,
        claims=_claims(_GUARDED, "replayed-batch"),
        seconds=45,
    ),
    Scenario(
        name="commit-lost-kafka",
        title="The last entry of the commit log lost, with an unguarded Kafka topic",
        subject=_KAFKA,
        workload=_PAYMENTS,
        schedule=_COMMIT_LOST,
        claims=_claims(_KAFKA, "replayed-batch", exactly=DUPLICATES),
        seconds=45,
    ),
    Scenario(
        name="offsets-lost-postgres",
        title="The last entries of both logs lost: the guard skips records that it never saw",
        subject=_GUARDED,
        workload=_PAYMENTS,
        schedule=_PLAN_LOST,
        claims=_claims(_GUARDED, "replanned-batch", least=_UNKNOWN, exactly=_UNKNOWN),
        seconds=45,
    ),
    Scenario(
        name="offsets-torn-postgres",
        title="The last entry of the offset log torn: Spark must not start until it is repaired",
        subject=_GUARDED,
        workload=_PAYMENTS,
        schedule=_PLAN_TORN,
        claims=_claims(_GUARDED, "torn-offset-log"),
        seconds=50,
    ),
    *(
        Scenario(
            name=subject.name,
            title=title,
            subject=subject,
            workload=_PAYMENTS,
            schedule=_NEW_CHECKPOINT,
            claims=tuple(
                map(
                    _covering_new_checkpoint,
                    _claims(subject, "new-checkpoint", least=met, exactly=met),
                )
            ),
            seconds=seconds,
        )
        for subject, met, seconds, title in (
            (
                _BEHIND,
                HOLDS,
                45,
                "A new checkpoint for a query that starts from its table's offsets",
            ),
            (
                _BATCH_ID,
                LOST,
                45,
                "The broken twin: the guard takes the new query's batches for the old one's",
            ),
            (
                _HUDI_OWN_WRITER,
                HOLDS,
                75,
                "A new checkpoint for a query into Hudi whose writer has the checkpoint's name",
            ),
            (
                _HUDI,
                LOST,
                75,
                "A new checkpoint for a query into Hudi, with the default name of its writer",
            ),
        )
    ),
)
