"""PySpark's own Kafka sink, with executors as separate processes."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.harness.subjects.spark.kafka_sink import SparkKafkaSink
from onceproof.harness.subjects.spark.subject import DRIVER, EXECUTORS, JobPlace


@dataclass(frozen=True, kw_only=True)
class SparkKafkaSinkOnCluster(SparkKafkaSink):
    """Kafka to Kafka, with executors that can be killed individually."""

    executors: int = 2
    megabytes: int = 512

    @property
    def name(self) -> str:
        return "spark-kafka-sink-on-cluster"

    @property
    def says(self) -> str:
        return (
            f"PySpark's own Kafka sink, with {self.executors} executors in separate processes. It "
            "promises at-least-once only: a lost task is retried and sends its records again."
        )

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({DRIVER, EXECUTORS})

    def command(self, place: JobPlace) -> list[str]:
        master = f"local-cluster[{self.executors},1,{self.megabytes}]"
        return [*super().command(place), "--master", master]
