"""PySpark foreachBatch into Kafka in one transaction, with its guard or (broken twin) without."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.topic_with_batches import TopicWithBatches
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject


@dataclass(frozen=True, kw_only=True)
class SparkForeachBatchKafka(SparkSubject):
    """A micro-batch is one Kafka transaction; the guard is a record in it.

    Attributes:
        batches: the guard's topic, with one partition, which must exist.
        transactional_id: a new life of the driver aborts the previous life's transaction by it.
    """

    family = "spark-foreachbatch"

    guard: Literal["query-and-batch-id", "none"] = "query-and-batch-id"
    sink: str = "payments-with-fees"
    view: str = "read_committed"
    batches: str = "batches-done"
    transactional_id: str = "payments-with-fees-writer"

    @property
    def name(self) -> str:
        return "spark-foreachbatch-kafka" + ("-unguarded" if self.guard == "none" else "")

    @property
    def says(self) -> str:
        if self.guard == "none":
            return (
                "PySpark foreachBatch into Kafka, each micro-batch one transaction without a "
                "guard: the broken twin. A repeated micro-batch is written in another transaction."
            )
        return (
            "PySpark foreachBatch into Kafka, each micro-batch one transaction that also records "
            "(query id, batch id) in a topic, which is read at the start: exactly-once for "
            "read_committed consumers."
        )

    @property
    def output_topic(self) -> str | None:
        return self.sink

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "foreach_batch_kafka.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--sink-bootstrap", place.sink_bootstrap, "--sink-topic", self.sink),
            *("--batches-topic", self.batches, "--transactional-id", self.transactional_id),
            *("--checkpoint", str(place.checkpoint), "--progress", str(place.progress)),
            *("--guard", self.guard),
        ]

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return TopicWithBatches(reader, topic=self.sink, view=self.view, batches=self.batches)
