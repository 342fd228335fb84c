"""What to change in a job of Spark or Flink, and in a program of a stream library or framework."""

from __future__ import annotations

from typing import Final

from onceproof.harness.history.system import System
from onceproof.reports.advice.advice import Advice, advice

_SPARK: Final = (System.SPARK,)
_FLINK: Final = (System.FLINK,)
_STREAMS: Final = (System.STREAMS,)
_CONNECT: Final = (System.CONNECT,)
_QUIX: Final = (System.QUIX,)
_FAUST: Final = (System.FAUST,)
_SPRING: Final = (System.SPRING,)
_SPARK_PAGE: Final = "how-to/test-a-spark-job.md"
_FLINK_PAGE: Final = "how-to/test-a-flink-job.md"

ENGINES: Final[tuple[Advice, ...]] = (
    advice(
        "duplicate-output offset-behind offset-regressed zombie-write",
        "Spark runs a micro-batch again if the driver ended before the commit log had it. In "
        "`foreachBatch`, store the query id and the batch id in the transaction of the rows, and "
        "skip a batch that is already there. For Delta use `txnAppId` and `txnVersion`; for files "
        "overwrite a folder of the batch.",
        systems=_SPARK,
        page=_SPARK_PAGE,
    ),
    advice(
        "duplicate-output",
        "Spark's own Kafka sink is at-least-once. Write with `foreachBatch` and a guard, or let "
        "the reader of the topic drop duplicates by an id.",
        systems=_SPARK,
    ),
    advice(
        "lost-output offset-ahead",
        "Let `foreachBatch` return only when the batch is durable, and let its errors pass. Guard "
        "with query id and batch id, since a new checkpoint counts batches from 0 again. Do not "
        "move a checkpoint between two outputs.",
        systems=_SPARK,
        page=_SPARK_PAGE,
    ),
    advice(
        "duplicate-output lost-output",
        "Hudi skips a batch by its number alone: set "
        "`hoodie.datasource.write.streaming.checkpoint.identifier`, and change it with every new "
        "checkpoint. Paimon 0.9 recognizes no batch: give the table a primary key.",
        systems=_SPARK,
        page="findings/hudi-skips-a-new-query.md",
    ),
    advice(
        "offset-gap",
        "Do not edit, copy or clean up a checkpoint, and do not share it between two queries. "
        "Start a new checkpoint only with a new output, or from the offsets in the output.",
        systems=_SPARK,
        page=_SPARK_PAGE,
    ),
    advice(
        "state-mismatch",
        "Keep state in Spark's state store, not in files or variables of the job, and write "
        "totals as values (`update`), not as changes to add.",
        systems=_SPARK,
        page=_SPARK_PAGE,
    ),
    advice(
        "reordered-output",
        "Repartition by the key before the sink, and sort each partition by the input's offset.",
        systems=_SPARK,
    ),
    advice(
        "duplicate-output offset-behind offset-regressed offset-gap zombie-write",
        "Set `DeliveryGuarantee.EXACTLY_ONCE` with a `transactionalIdPrefix` of the job's own, "
        "enable checkpoints, and let readers of the output use `read_committed`. Restart a job "
        "from its newest checkpoint, but not before the old one is known to be dead: a job that "
        "is only paused goes on and writes again (`docs/findings/flink-zombie.md`).",
        systems=_FLINK,
        page=_FLINK_PAGE,
    ),
    advice(
        "lost-output offset-ahead",
        "Set the producer's `transaction.timeout.ms` above the longest time between a checkpoint "
        "and the restart after a failure, and `transaction.max.timeout.ms` of the brokers too: the "
        "coordinator aborts a prepared transaction that is older, and its records are lost.",
        systems=_FLINK,
        page=_FLINK_PAGE,
    ),
    advice(
        "state-mismatch",
        "Keep state in Flink's keyed state and restart from the newest checkpoint; a job that "
        "starts without one has lost its state.",
        systems=_FLINK,
        page=_FLINK_PAGE,
    ),
    advice(
        "reordered-output",
        "Use the same key from source to sink, and give the sink the parallelism of the operator "
        "before it.",
        systems=_FLINK,
    ),
    advice(
        "duplicate-output state-mismatch offset-behind offset-regressed offset-gap zombie-write",
        "Set `processing.guarantee=exactly_once_v2`, keep `application.id` over restarts, and let "
        "readers of the output use `read_committed`. The default is at-least-once.",
        systems=_STREAMS,
    ),
    advice(
        "lost-output offset-ahead reordered-output",
        "Check the handlers of exceptions: one that returns `CONTINUE` or `RESUME` "
        "skips the record. Do not "
        "forward records from a thread of your own.",
        systems=_STREAMS,
    ),
    advice(
        "duplicate-output state-mismatch offset-behind offset-regressed offset-gap zombie-write",
        'Set `processing_guarantee="exactly-once"`, and keep `commit_interval` well below '
        "`session.timeout.ms`, without a long `commit_every`: an instance that was paused for "
        "longer than its session commits what it read before the pause.",
        systems=_QUIX,
        page="findings/quix-commits-lost-partitions.md",
    ),
    advice(
        "lost-output offset-ahead reordered-output state-mismatch",
        "Let errors of a function pass, so that its instance ends and reads again: an "
        "`on_processing_error` that returns `True` skips the record. Keep state in "
        "`State`, not in variables of the program.",
        systems=_QUIX,
    ),
    advice(
        "duplicate-output offset-behind offset-regressed offset-gap zombie-write state-mismatch",
        'With `processing_guarantee="exactly_once"` faust writes what an agent sends to another '
        "topic outside of its transactions. Let readers of the output drop duplicates by an id.",
        systems=_FAUST,
        page="findings/faust-outside-transactions.md",
    ),
    advice(
        "lost-output offset-ahead reordered-output",
        "Do not acknowledge an event before what it caused is sent: await each `send`, and the "
        "metadata of its record.",
        systems=_FAUST,
    ),
    advice(
        "duplicate-output state-mismatch offset-behind offset-regressed offset-gap zombie-write",
        "Give the listener container a `KafkaTransactionManager`, so that it commits its offsets "
        "in the transaction of what is sent, and let readers use `read_committed`.",
        systems=_SPRING,
    ),
    advice(
        "lost-output offset-ahead reordered-output",
        "Set `stopContainerWhenFenced` and start the container again, and set "
        "`transaction.timeout.ms` far above the time for a poll's records. Give "
        "`DefaultAfterRollbackProcessor` a back-off without a limit of attempts, or a recoverer.",
        systems=_SPRING,
        page="findings/spring-goes-on-when-fenced.md",
    ),
    advice(
        "duplicate-output offset-behind offset-regressed offset-gap zombie-write",
        "Set `exactly.once.source.support=enabled` on every worker and "
        "`exactly.once.support=required` on the source connector, and let readers use "
        "`read_committed`. A sink connector is at-least-once, unless it stores its offsets with "
        "its output or writes by key.",
        systems=_CONNECT,
    ),
    advice(
        "lost-output offset-ahead state-mismatch reordered-output",
        "Set `errors.tolerance=none`, so that a record that fails stops its task and is not "
        "skipped. A sink task must have written what it was given when `flush` returns.",
        systems=_CONNECT,
    ),
)
