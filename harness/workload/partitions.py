"""Which partition of a topic a key goes to."""

from __future__ import annotations

from kafka.partitioner.default import murmur2


def partition_of_key(key: str, partitions: int) -> int:
    """The partition that Java's default partitioner and librdkafka's `murmur2_random` choose.

    Args:
        key: text that is sent as UTF-8; not empty.
        partitions: how many the topic has.
    """
    return int(murmur2(key.encode()) & 0x7FFFFFFF) % partitions
