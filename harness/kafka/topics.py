"""Creating topics, and removing them where the cluster outlives the run."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from onceproof.harness.kafka.connecting.connection import connection

MOST_REPLICAS = 3


def create_topics(
    bootstrap: str,
    names: list[str],
    *,
    partitions: int,
    brokers: int = MOST_REPLICAS,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Create topics with three replicas, or with as many as there are brokers, and with `settings`.

    Returns when the cluster has them.

    Raises:
        KafkaException: the cluster refused, for instance because there is such a topic.
    """
    admin = AdminClient({**connection(bootstrap).librdkafka(), "log_level": 0})
    replicas = min(MOST_REPLICAS, brokers)
    new = [
        NewTopic(
            name,
            num_partitions=partitions,
            replication_factor=replicas,
            config=dict(settings or {}),
        )
        for name in names
    ]
    for name, future in admin.create_topics(new, operation_timeout=10).items():
        try:
            future.result(timeout=20)
        except KafkaException as error:
            raise KafkaException(f"topic {name}: {error.args[0]}") from error


def delete_topics(bootstrap: str, names: list[str]) -> None:
    """Remove topics; those that are not there are fine.

    Raises:
        KafkaException: the cluster refused.
    """
    admin = AdminClient({**connection(bootstrap).librdkafka(), "log_level": 0})
    for future in admin.delete_topics(names, operation_timeout=10).values():
        try:
            future.result(timeout=20)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
