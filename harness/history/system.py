"""The kind of system that a run puts on trial, so that a report can say what to change in it."""

from __future__ import annotations

from enum import StrEnum


class System(StrEnum):
    """A kind of system; the value is its name for readers."""

    PRODUCER = "Kafka producers"
    CONSUMER = "consumers that produce"
    DATABASE = "consumers that write to a database"
    WEB = "consumers that call a web service"
    QUEUE = "forwarders between queues or topics"
    SPARK = "Spark"
    FLINK = "Flink"
    STREAMS = "Kafka Streams"
    QUIX = "Quix Streams"
    FAUST = "faust-streaming"
    SPRING = "Spring for Apache Kafka"
    CONNECT = "Kafka Connect"
