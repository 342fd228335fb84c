"""Compute the partition of a key."""

from __future__ import annotations

from kafka.partitioner.default import murmur2


def partition_of_key(key: str, partitions: int) -> int:
    """Return the partition that Java's partitioner and `murmur2_random` choose; `key` not empty."""
    return int(murmur2(key.encode()) & 0x7FFFFFFF) % partitions
