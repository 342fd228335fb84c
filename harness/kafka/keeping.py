"""Find the internal topic and partition that stores a group or transactional id.

The partition's leader is the coordinator of every id in it, so both move together.
"""

from __future__ import annotations

from typing import Final

from onceproof.harness.kafka.metadata import Coordinated

KEPT_IN: Final[dict[Coordinated, str]] = {
    "group": "__consumer_offsets",
    "transaction": "__transaction_state",
}


def partition_of(name: str, partitions: int) -> int:
    """Return the partition for a name: Java's string hash through Kafka's `Utils.abs`.

    The partitioner of records uses `Utils.toPositive` instead.
    """
    number = 0
    units = name.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        number = (31 * number + (high << 8 | low)) & 0xFFFFFFFF
    # Integer.MIN_VALUE has no absolute value; Kafka uses 0.
    positive = 0 if number == 1 << 31 else min(number, (1 << 32) - number)
    return positive % partitions
