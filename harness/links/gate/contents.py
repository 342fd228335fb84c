"""Extract topics, transactional ids, groups and offsets from a request, or what a Fetch returned.

Kafka's schemas, which kafka-python includes, mark such fields by entity type. So only a few APIs
need their own code, such as FindCoordinator, whose key may be either. Newer versions have topic ids
instead of names.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from kafka.protocol.api_key import ApiKey
from kafka.protocol.schemas import BaseField

from onceproof.harness.links.gate.messages import FETCH

_ENTITIES: Final = {"topicName": "topic", "transactionalId": "transactional_id", "groupId": "group"}
_END_TXN: Final = int(ApiKey.EndTxn)
_JOIN_GROUP: Final = int(ApiKey.JoinGroup)
_POSITIONS: Final = {
    int(ApiKey.OffsetCommit): attrgetter("partition_index", "committed_offset"),
    int(ApiKey.TxnOffsetCommit): attrgetter("partition_index", "committed_offset"),
    FETCH: attrgetter("partition", "fetch_offset"),
}
"""APIs with offsets, and where each has the partition and the next offset."""
_SETTINGS: Final[dict[int, tuple[str, ...]]] = {
    FETCH: ("isolation_level",),
    int(ApiKey.InitProducerId): ("transaction_timeout_ms",),
    int(ApiKey.JoinGroup): (
        "session_timeout_ms",
        "rebalance_timeout_ms",
        "group_instance_id",
        "protocol_type",
    ),
    int(ApiKey.Produce): ("acks",),
}
"""Client settings in requests."""
_BATCH: Final = struct.Struct(">qi11xi")
"""The head of a record batch: base offset, length of what follows it, …, last offset delta."""
_PRODUCER: Final = struct.Struct(">43xqhii")
"""In a record batch: …, producer id, producer epoch, base sequence, number of records."""
_PRODUCE: Final = int(ApiKey.Produce)
_BATCH_LENGTH: Final = 12
"""Bytes of a batch that its length does not count."""
_KEYS: Final = {0: "group", 1: "transactional_id"}
"""The meaning of FindCoordinator's key, by key type."""


_Batch = tuple[str | UUID, int, tuple[int, int], tuple[int, int]]
"""Topic name or id, partition, producer id and epoch, base sequence and number of records."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What a request contains."""

    topics: frozenset[str] = frozenset()
    topic_ids: frozenset[UUID] = frozenset()
    transactional_ids: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    commits: bool | None = None
    """Whether an EndTxn commits; None for other APIs."""
    positions: frozenset[tuple[str | UUID, int, int]] = frozenset()
    """Of offset commits and Fetch: topic name or id, partition, next offset."""
    producer: tuple[int, int] | None = None
    """Producer id and epoch; None if it names none."""
    batches: tuple[tuple[str | UUID, int, int, int], ...] = ()
    """Of Produce: topic name or id, partition, base sequence, number of records."""
    records: bool | None = None
    """Whether the response to a Fetch returned records; None if that is unknown."""
    settings: tuple[tuple[str, Any], ...] = dataclasses.field(default=(), compare=False)
    """Client settings by name; for JoinGroup also the offered protocols."""


def contents_of(message: Any) -> Contents:
    found: dict[str, set[Any]] = {}
    for what, value in _entities(message, message.json["fields"]):
        found.setdefault(what, set()).add(value)
    if (kind := _KEYS.get(getattr(message, "key_type", -1))) is not None:
        found.setdefault(kind, set()).update(message.coordinator_keys or [message.key])
    batches = list(_batches(message)) if message.API_KEY == _PRODUCE else []
    return Contents(
        topics=frozenset(found.get("topic", ())),
        topic_ids=frozenset(found.get("topic_id", ())),
        transactional_ids=frozenset(found.get("transactional_id", ())),
        groups=frozenset(found.get("group", ())),
        commits=bool(message.committed) if message.API_KEY == _END_TXN else None,
        positions=frozenset(_positions(message)),
        producer=_producer(message, batches),
        batches=tuple((topic, part, *numbers) for topic, part, _, numbers in batches),
        settings=tuple(_settings(message)),
    )


def _settings(message: Any) -> Iterator[tuple[str, Any]]:
    for name in _SETTINGS.get(message.API_KEY, ()):
        yield name, getattr(message, name)
    if message.API_KEY == _JOIN_GROUP:
        yield "protocols", [protocol.name for protocol in message.protocols]


def _positions(message: Any) -> Iterator[tuple[str | UUID, int, int]]:
    position = _POSITIONS.get(message.API_KEY)
    if position is None:
        return
    for topic in message.topics:
        name = topic.topic if message.API_KEY == FETCH else topic.name
        for place in topic.partitions:
            yield name or topic.topic_id, *position(place)


def _producer(message: Any, batches: Iterable[_Batch]) -> tuple[int, int] | None:
    """Return the producer id and epoch of a request, or of the batches in a Produce."""
    # Brokers, not clients, send AddPartitionsToTxn for several transactions.
    carrier = (getattr(message, "transactions", None) or [message])[0]
    own = next(
        (
            (getattr(carrier, f"{before}producer_id"), getattr(carrier, f"{before}producer_epoch"))
            for before in ("", "v3_and_below_")
            if hasattr(carrier, f"{before}producer_id")
        ),
        (-1, -1),
    )
    found = own if min(own) >= 0 else next((producer for _, _, producer, _ in batches), own)
    return found if min(found) >= 0 else None


def _batches(message: Any) -> Iterator[_Batch]:
    for topic in message.topic_data:
        for place in topic.partition_data:
            records, at = place.records or b"", 0
            while at + _PRODUCER.size <= len(records):
                of, epoch, sequence, count = _PRODUCER.unpack_from(records, at)
                yield topic.name or topic.topic_id, place.index, (of, epoch), (sequence, count)
                at += _BATCH_LENGTH + _BATCH.unpack_from(records, at)[1]


def read_by(response: Any) -> Iterator[tuple[str | UUID, int, int]]:
    """Yield topic name or id, partition, and the offset after the last batch of a FetchResponse."""
    for topic in response.responses:
        for place in topic.partitions:
            if (offset := _offset_after(place.records or b"")) is not None:
                yield topic.topic or topic.topic_id, place.partition_index, offset


def _offset_after(records: bytes) -> int | None:
    """Return the offset after the last whole batch; brokers may cut off the last one."""
    at, found = 0, None
    while at + _BATCH.size <= len(records):
        base, length, delta = _BATCH.unpack_from(records, at)
        at += _BATCH_LENGTH + length
        if at <= len(records):
            found = base + delta + 1
    return found


def entity(field: dict[str, Any]) -> str | None:
    """Return what a schema field names, such as `topic`; None if nothing of interest."""
    if field["name"] == "TopicId":
        return "topic_id"
    return _ENTITIES.get(field.get("entityType", ""))


def attribute(field: dict[str, Any]) -> str:
    return str(BaseField.underscore_name(field["name"]))


def _entities(message: Any, fields: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    for field in fields:
        value = getattr(message, attribute(field))
        if "fields" in field:
            parts = value if isinstance(value, list) else [value]
            for part in parts:
                if part is not None:
                    yield from _entities(part, field["fields"])
        elif value and (what := entity(field)):
            yield what, value
