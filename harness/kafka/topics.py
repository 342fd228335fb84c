"""Creating topics."""

from __future__ import annotations

from confluent_kafka.admin import AdminClient, NewTopic


def create_topics(bootstrap: str, names: list[str], *, partitions: int) -> None:
    """Create topics with three replicas and wait until the cluster has them.

    Raises:
        KafkaException: the cluster refused.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    new = [NewTopic(name, num_partitions=partitions, replication_factor=3) for name in names]
    for future in admin.create_topics(new, operation_timeout=10).values():
        future.result(timeout=20)
