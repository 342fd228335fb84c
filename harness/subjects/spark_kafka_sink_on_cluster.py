"""PySpark's own Kafka sink, with executors in processes of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.kafka.log_reader import LogReader
from harness.sinks.base import Sink
from harness.sinks.topic import TopicSink
from harness.subjects.spark import CONFIGURATION
from harness.subjects.spark_kafka_sink import SparkKafkaSink
from harness.subjects.spark_subject import JobPlace, SparkSubject


@dataclass(frozen=True, kw_only=True)
class SparkKafkaSinkOnCluster(SparkSubject):
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
    def sinks(self) -> tuple[str, ...]:
        """One."""
        return (self.sink,)

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
        return [*SparkKafkaSink(sink=self.sink).command(place), "--master", self._master]

    def configuration(self) -> Mapping[str, Any]:
        """Spark's settings, with executors of their own."""
        own = {"spark.master": self._master, "spark.executor.memory": f"{self.megabytes}m"}
        return {"spark": CONFIGURATION | own}

    def open_sink(self, *, database: str, reader: LogReader) -> Sink:
        """The output topic."""
        return TopicSink(reader, topic=self.sink, view=self.view)

    @property
    def _master(self) -> str:
        return f"local-cluster[{self.executors},1,{self.megabytes}]"
