"""Query a cluster's metadata and offsets for an audit. Read access is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec, ResourceType

from onceproof.harness.audit.bounds import BadBound, Bound
from onceproof.harness.kafka.connecting.connection import Connection
from onceproof.harness.kafka.connecting.refused import CredentialsRefused

T = TypeVar("T")
_SPEC: Final[Any] = OffsetSpec
_EARLIEST, _LATEST = _SPEC.earliest(), _SPEC.latest()
_TIMEOUT: Final = 30.0
"""Request timeout, in seconds."""


class UnreadableCluster(RuntimeError):
    """A cluster or one of its topics cannot be read; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Extent:
    """A partition's log start offset, last stable offset, and high watermark."""

    start: int
    stable: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A topic at the start of the audit; if compacted, records may be missing."""

    name: str
    partitions: Mapping[int, Extent]
    compacted: bool


class Cluster:
    """Query one cluster.

    Raises:
        UnreadableCluster: no broker answers, or one refuses the credentials.
    """

    def __init__(self, connection: Connection) -> None:
        _check_access(connection)
        self.properties = connection.librdkafka()
        self._admin = AdminClient({**self.properties, "log_level": 0})

    def topic(self, name: str) -> Topic:
        """Describe a topic.

        Raises:
            UnreadableCluster: the topic does not exist, or no broker answers.
        """
        found = self._call(lambda: self._admin.list_topics(name, timeout=_TIMEOUT), "metadata")
        about = found.topics[name]
        if about.error is not None:
            raise UnreadableCluster(f"topic {name} cannot be read: {about.error.str()}")
        parts = [TopicPartition(name, p) for p in sorted(about.partitions)]
        starts = self._offsets(parts, _EARLIEST, IsolationLevel.READ_UNCOMMITTED)
        ends = self._offsets(parts, _LATEST, IsolationLevel.READ_UNCOMMITTED)
        stable = self._offsets(parts, _LATEST, IsolationLevel.READ_COMMITTED)
        return Topic(
            name=name,
            partitions={
                p: Extent(start=starts[p], stable=min(stable[p], ends[p]), end=ends[p])
                for p in starts
            },
            compacted=self._compacted(name),
        )

    def resolved(
        self, topic: Topic, bound: Bound, *, otherwise: Mapping[int, int]
    ) -> dict[int, int]:
        """Return partition → offset of a bound, limited to the offsets that the topic holds.

        Partitions that the bound does not name get their offset from `otherwise`.

        Raises:
            BadBound: the bound names a partition that does not exist.
        """
        if unknown := sorted(bound.offsets.keys() - topic.partitions.keys()):
            raise BadBound(
                f"{topic.name} has no partition {unknown[0]}; expected 0 to "
                f"{len(topic.partitions) - 1}"
            )
        found = {**otherwise, **bound.offsets}
        if bound.at is not None:
            parts = [TopicPartition(topic.name, p) for p in topic.partitions]
            later = self._offsets(
                parts, OffsetSpec.for_timestamp(bound.at), IsolationLevel.READ_UNCOMMITTED
            )
            # -1: the partition has no record with this timestamp or a later one.
            found = {p: at if at >= 0 else topic.partitions[p].end for p, at in later.items()}
        return {
            p: min(max(found[p], extent.start), extent.end)
            for p, extent in topic.partitions.items()
        }

    def times(self, topic: Topic, offsets: Mapping[int, int]) -> dict[int, int]:
        """Return partition → timestamp of the first record at or after an offset, if there is one.

        Raises:
            UnreadableCluster: a partition does not answer.
        """
        found = {}
        consumer = Consumer(reading(self.properties, isolation="read_uncommitted"))
        try:
            for partition, offset in offsets.items():
                if offset >= topic.partitions[partition].end:
                    continue
                consumer.assign([TopicPartition(topic.name, partition, offset)])
                message = consumer.poll(_TIMEOUT)
                error = None if message is None else message.error()
                if message is not None and error is None:
                    found[partition] = message.timestamp()[1]
                elif error is None or error.code() != KafkaError._PARTITION_EOF:
                    why = f"no record within {_TIMEOUT:.0f} s" if error is None else error.str()
                    raise UnreadableCluster(f"{topic.name}-{partition}@{offset}: {why}")
        finally:
            consumer.close()
        return found

    def committed(self, group: str, topic: Topic) -> dict[int, int]:
        """Return partition → committed offset of a consumer group.

        Raises:
            UnreadableCluster: the query fails, or the group has no committed offset in this topic.
        """
        parts = [TopicPartition(topic.name, p) for p in topic.partitions]
        requested = ConsumerGroupTopicPartitions(group, parts)

        def ask() -> Any:
            (answer,) = self._admin.list_consumer_group_offsets(
                [requested], request_timeout=_TIMEOUT
            ).values()
            return answer.result(_TIMEOUT)

        found = self._call(ask, f"the offsets of group {group}")
        committed = {p.partition: p.offset for p in found.topic_partitions if p.offset >= 0}
        if not committed:
            raise UnreadableCluster(
                f"group {group} has no committed offset in {topic.name}; expected the group that "
                "reads it, or no group"
            )
        return committed

    def _compacted(self, name: str) -> bool:
        resource = ConfigResource(ResourceType.TOPIC, name)

        def ask() -> Any:
            (answer,) = self._admin.describe_configs([resource], request_timeout=_TIMEOUT).values()
            return answer.result(_TIMEOUT)

        return "compact" in str(self._call(ask, f"the settings of {name}")["cleanup.policy"].value)

    def _offsets(
        self, parts: Iterable[TopicPartition], which: OffsetSpec, isolation: IsolationLevel
    ) -> dict[int, int]:
        requested = dict.fromkeys(parts, which)

        def ask() -> dict[int, int]:
            answers = self._admin.list_offsets(
                requested, isolation_level=isolation, request_timeout=_TIMEOUT
            )
            return {p.partition: a.result(_TIMEOUT).offset for p, a in answers.items()}

        return self._call(ask, "offsets")

    def _call(self, ask: Callable[[], T], what: str) -> T:
        try:
            return ask()
        except KafkaException as error:
            reason: KafkaError = error.args[0]
            raise UnreadableCluster(f"{what} cannot be read: {reason.str()}") from None


def _check_access(connection: Connection) -> None:
    """Connect to a broker to fail fast: librdkafka would only log an error and keep retrying."""
    for address in connection.bootstrap.split(","):
        one = Connection(address.strip(), connection.properties)
        try:
            one.open(_TIMEOUT).close()
            return
        except CredentialsRefused as error:
            raise UnreadableCluster(str(error)) from None
        except (OSError, ValueError) as error:
            last = f"{address}: {error}"
    raise UnreadableCluster(f"no broker answers; last error: {last}")


def reading(properties: Mapping[str, Any], *, isolation: str) -> dict[str, Any]:
    """Return properties of a consumer that reads by offset, joins no group, commits nothing."""
    return {
        **properties,
        "group.id": "onceproof-audit",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        "isolation.level": isolation,
    }
