"""The offsets that a Fetch response reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from kafka.protocol.consumer import FetchResponse
from kafka.record.memory_records import MemoryRecordsBuilder

from onceproof.harness.links.gate.contents import read_by
from onceproof.harness.links.gate.messages import FETCH, decode_response, encode

ID = UUID(int=77)


def batch(base: int, records: int) -> bytes:
    builder = MemoryRecordsBuilder(2, 0, 1 << 20)
    for number in range(records):
        builder.append(timestamp=1, key=None, value=b"%d" % number, headers=[])
    builder.close()
    return base.to_bytes(8, "big") + bytes(builder.buffer())[8:]


def fetched(version: int, *partitions: bytes | None) -> Any:
    """A response as a client decodes it, with these records of partitions 0, 1, …"""
    topic = FetchResponse.FetchableTopicResponse
    made = FetchResponse(
        version=version,
        responses=[
            topic(
                version=version,
                topic="orders" if version < 13 else None,
                topic_id=ID if version > 12 else None,
                partitions=[
                    topic.PartitionData(
                        version=version, partition_index=number, high_watermark=99, records=records
                    )
                    for number, records in enumerate(partitions)
                ],
            )
        ],
    )
    made.with_header(correlation_id=1)
    return decode_response(encode(made, version), FETCH, version)


@pytest.mark.parametrize("version", range(4, FetchResponse.max_version + 1))
def test_every_version(version: int) -> None:
    name = "orders" if version < 13 else ID
    response = fetched(version, batch(7, 3), None, b"", batch(0, 1) + batch(4, 2))
    assert list(read_by(response)) == [(name, 0, 10), (name, 3, 6)]


@pytest.mark.parametrize(
    ("records", "offset"),
    [
        ([batch(7, 3), batch(10, 5)[:-1]], [10]),
        ([batch(7, 3), batch(10, 5)[:20]], [10]),
        ([batch(7, 3)[:-1]], []),
    ],
)
def test_ignores_a_truncated_batch(records: Sequence[bytes], offset: list[int]) -> None:
    assert [at for *_, at in read_by(fetched(12, b"".join(records)))] == offset
