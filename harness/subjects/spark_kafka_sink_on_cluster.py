"""PySpark's own Kafka sink, with executors in processes of their own."""

from __future__ import annotations

from dataclasses import dataclass

from harness.kafka.log_reader import LogReader
from harness.sinks.base import Sink
from harness.sinks.topic import TopicSink
from harness.subjects.base import JobPlace
from harness.subjects.spark_kafka_sink import SparkKafkaSink


@dataclass(frozen=True, kw_only=True)
class SparkKafkaSinkOnCluster:
    """Kafka to Kafka, its tasks run by processes that can be killed one by one."""

    sink: str = "payments-with-fees"
    view: str = "read_committed"
    executors: int = 2
    megabytes: int = 512

    @property
    def name(self) -> str:
        """`spark-kafka-sink-on-cluster`."""
        return "spark-kafka-sink-on-cluster"

    @property
    def says(self) -> str:
        """What it promises."""
        return (
            f"PySpark's own Kafka sink, with {self.executors} executors in processes of their own. "
            "It promises at-least-once: a task that is lost is tried again, and sends again."
        )

    @property
    def output_topic(self) -> str | None:
        """The topic that it writes to."""
        return self.sink

    def command(self, place: JobPlace) -> list[str]:
        """The job and its arguments."""
        master = f"local-cluster[{self.executors},1,{self.megabytes}]"
        return [*SparkKafkaSink(sink=self.sink).command(place), "--master", master]

    def open_sink(self, *, database: str, reader: LogReader) -> Sink:
        """The output topic."""
        return TopicSink(reader, topic=self.sink, view=self.view)
