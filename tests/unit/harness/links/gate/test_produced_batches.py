"""What a Produce request says of its batches: producer id, epoch and sequence numbers."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from kafka.protocol import producer

from onceproof.harness.links.gate.contents import contents_of
from onceproof.harness.links.gate.messages import api_key, decode_request, encode

TOPIC_IDS_FROM = 13


def batch(producer: int, epoch: int, sequence: int, count: int, payload: bytes = b"xyz") -> bytes:
    """A record batch of magic 2; only its header is read."""
    behind_length = struct.pack(
        ">ibIhiqqqhii", 0, 2, 0, 0, count - 1, 0, 0, producer, epoch, sequence, count
    )
    body = behind_length + payload
    return struct.pack(">qi", 0, len(body)) + body


def produce(version: int, *partitions: bytes | None) -> Any:
    kind = producer.ProduceRequest
    message = kind(version=version)
    message.transactional_id, message.acks, message.timeout_ms = "t", -1, 1
    topic = kind.TopicProduceData(version=version)
    topic.name, topic.partition_data = "orders", []
    for n, records in enumerate(partitions):
        part = kind.TopicProduceData.PartitionProduceData(version=version)
        part.index, part.records = n, records
        topic.partition_data.append(part)
    message.topic_data = [topic]
    message.with_header(correlation_id=1, client_id="c")
    return decode_request(encode(message, version), api_key("Produce"), version)


@pytest.mark.parametrize("version", range(3, TOPIC_IDS_FROM))
def test_reads_producer_and_sequences_of_every_batch(version: int) -> None:
    found = contents_of(
        produce(version, batch(7, 2, 10, 3) + batch(7, 2, 13, 1), None, batch(7, 2, 0, 5))
    )
    assert found.producer == (7, 2)
    assert found.batches == (("orders", 0, 10, 3), ("orders", 0, 13, 1), ("orders", 2, 0, 5))


def test_no_producer_without_idempotence() -> None:
    found = contents_of(produce(9, batch(-1, -1, -1, 3)))
    assert found.producer is None
    assert found.batches == (("orders", 0, -1, 3),)


@pytest.mark.parametrize("length", [0, 12, 50])
def test_ignores_a_truncated_batch(length: int) -> None:
    found = contents_of(produce(9, batch(7, 2, 10, 3) + batch(7, 2, 13, 1)[:length]))
    assert found.batches == (("orders", 0, 10, 3),)
