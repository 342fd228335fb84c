"""Create topics, and delete them if the cluster outlives the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.wait import Overdue

MOST_REPLICAS = 3
_SECONDS: Final = 60
"""Timeout; brokers that have just started are slow."""


def create_topics(
    bootstrap: str,
    names: list[str],
    *,
    partitions: int,
    brokers: int = MOST_REPLICAS,
    settings: Mapping[str, str] | None = None,
    replicas: Sequence[int] | None = None,
) -> None:
    """Create topics with at most three replicas; raises as `answer`, e.g. if a topic exists.

    Args:
        replicas: the brokers of every partition, the leader first; None: the cluster chooses.
    """
    admin = AdminClient({**connection(bootstrap).librdkafka(), "log_level": 0})
    placed: dict[str, Any] = (
        {"replication_factor": min(MOST_REPLICAS, brokers)}
        if replicas is None
        else {"replica_assignment": [list(replicas)] * partitions}
    )
    new = [
        NewTopic(name, num_partitions=partitions, config=dict(settings or {}), **placed)
        for name in names
    ]
    for name, future in admin.create_topics(new, operation_timeout=10).items():
        try:
            answer(future, f"topic {name} to be created")
        except KafkaException as error:
            raise KafkaException(f"topic {name}: {error.args[0]}") from error


def delete_topics(bootstrap: str, names: list[str]) -> None:
    """Delete topics, ignoring those that do not exist; raises as `answer`."""
    admin = AdminClient({**connection(bootstrap).librdkafka(), "log_level": 0})
    for name, future in admin.delete_topics(names, operation_timeout=10).items():
        try:
            answer(future, f"topic {name} to be removed")
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise


def answer(future: Future[Any], what: str) -> Any:
    """Return the answer to an admin request; `what` names the request in the error.

    Raises:
        KafkaException: the cluster refused.
        Overdue: the cluster did not answer within a minute.
    """
    try:
        return future.result(timeout=_SECONDS)
    except TimeoutError:
        raise Overdue(f"waited {_SECONDS} s for {what}; no broker answered") from None
