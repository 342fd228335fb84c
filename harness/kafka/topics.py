"""Creating topics, and removing them where the cluster outlives the run."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.wait import Overdue

MOST_REPLICAS = 3
_SECONDS: Final = 60
"""How long the cluster may take to answer: brokers that have just started are slow."""


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
        Overdue: it has not answered in a minute.
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
            answer(future, f"topic {name} to be created")
        except KafkaException as error:
            raise KafkaException(f"topic {name}: {error.args[0]}") from error


def delete_topics(bootstrap: str, names: list[str]) -> None:
    """Remove topics; those that are not there are fine.

    Raises:
        KafkaException: the cluster refused.
        Overdue: it has not answered in a minute.
    """
    admin = AdminClient({**connection(bootstrap).librdkafka(), "log_level": 0})
    for name, future in admin.delete_topics(names, operation_timeout=10).items():
        try:
            answer(future, f"topic {name} to be removed")
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise


def answer(future: Future[Any], what: str) -> Any:
    """What the cluster answers to a request of an administrator.

    Args:
        what: what is waited for, for the error.

    Raises:
        KafkaException: it refused.
        Overdue: it has not answered in a minute.
    """
    try:
        return future.result(timeout=_SECONDS)
    except TimeoutError:
        raise Overdue(f"waited {_SECONDS} s for {what}; no broker answered") from None
