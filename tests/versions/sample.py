"""The sample: scenarios that stand for a kind of client, in the versions that are tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

BROKERS: Final = ("3.7.2", "3.9.2", "4.0.1", "4.1.1", "4.3.1")
JAVA: Final = ("3.0.0", "3.2.0", "3.9.2", "4.0.0", "4.1.1")
LIBRDKAFKA: Final = ("1.5.0", "1.6.1", "1.8.2", "1.9.2", "2.3.0", "2.8.0", "2.14.0")
AIOKAFKA: Final = ("0.9.0", "0.11.0", "0.13.0")
KAFKA_PYTHON: Final = ("2.2.8", "2.3.3", "3.0.0")
SPARK: Final = ("3.5.3", "4.1.1", "4.2.0")
FLINK: Final = ("1.20.1", "2.0.0", "2.1.0")
POSTGRESQL: Final = ("15.10", "16.4", "17.2")

OLD: Final = {"kafka": "3.9.2"}
"""Brokers for clients that newer ones refuse."""


def sample() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield scenarios with the versions that are chosen, in the order of the page."""
    for version in BROKERS:
        yield "idempotent-librdkafka", {"kafka": version}
        yield "consume-transform-produce-java", {"kafka": version}
    for version in JAVA:
        yield "transactional-java", {"kafka-clients": version}
        yield "kafka-streams", {"kafka-clients": version}
    for version in LIBRDKAFKA:
        yield "transactional-librdkafka", {"librdkafka": version}
        old = OLD if version < "1.8" else {}
        yield "consume-transform-produce", {"librdkafka": version, **old}
    for version in AIOKAFKA:
        yield "transactional-aiokafka", {"aiokafka": version}
    for version in KAFKA_PYTHON:
        yield "transactional-kafka-python", {"kafka-python": version}
    for version in ("3.9.2", "4.1.1"):
        yield "kafka-connect-mirror-source", {"connect": version}
    for version in SPARK:
        yield "spark-kafka-sink", {"spark": version}
    for version in FLINK:
        yield "flink", {"flink": version}
    for version in POSTGRESQL:
        yield "stored-offsets-postgres", {"postgresql": version}
