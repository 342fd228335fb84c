"""Which partition of Kafka's own topics keeps what belongs to a group or a transactional id.

Whoever leads that partition coordinates. So a coordinator is moved by moving
a leader, and takes everybody along whom the same partition keeps.
"""

from __future__ import annotations

from typing import Final

from onceproof.harness.kafka.metadata import Coordinated

KEPT_IN: Final[dict[Coordinated, str]] = {
    "group": "__consumer_offsets",
    "transaction": "__transaction_state",
}
"""The topic, by what is kept."""


def partition_of(name: str, partitions: int) -> int:
    """The partition for a name, by the absolute value of Java's hash of it: Kafka's `Utils.abs`.

    Records find their partitions by `Utils.toPositive`, which is another thing.
    """
    number = 0
    units = name.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        number = (31 * number + (high << 8 | low)) & 0xFFFFFFFF
    # The least number has no opposite; Kafka takes 0 for it.
    positive = 0 if number == 1 << 31 else min(number, (1 << 32) - number)
    return positive % partitions
