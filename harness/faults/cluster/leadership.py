"""What a broker leads: the partitions that change hands when it is gone.

Partitions of every topic that clients made count, not only those of the
workload, because a lab's user breaks the cluster under topics of her own.
"""

from __future__ import annotations

from collections.abc import Iterable

from onceproof.harness.kafka.metadata import ClusterView

Partition = tuple[str, int]


def led(view: ClusterView, node: int) -> list[Partition]:
    """The partitions that a broker leads."""
    return [(p.topic, p.partition) for p in view.clients() if p.leader == node]


def in_words(partitions: Iterable[Partition]) -> str:
    """`orders [0, 2], payments [1]`."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return ", ".join(f"{topic} {numbers}" for topic, numbers in topics.items()) or "nothing"
