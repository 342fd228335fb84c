"""PySpark's own Kafka sink, which is at-least-once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject


@dataclass(frozen=True, kw_only=True)
class SparkKafkaSink(SparkSubject):
    """Kafka to Kafka by `writeStream.format("kafka")`."""

    sink: str = "payments-with-fees"
    view: str = "read_committed"

    @property
    def name(self) -> str:
        return "spark-kafka-sink"

    @property
    def says(self) -> str:
        return (
            "PySpark's own Kafka sink. Spark's documentation promises at-least-once only: after a "
            "failure a micro-batch may be written again."
        )

    @property
    def output_topic(self) -> str | None:
        return self.sink

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "kafka_sink.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--sink-bootstrap", place.sink_bootstrap, "--sink-topic", self.sink),
            *("--checkpoint", str(place.checkpoint), "--progress", str(place.progress)),
        ]

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return TopicSink(reader, topic=self.sink, view=self.view)
