"""What a broker leads: the partitions that change hands when it is gone.

Partitions of every topic that clients made count, not only those of the
workload, because a lab's user breaks the cluster under topics of her own.
"""

from __future__ import annotations

from collections.abc import Iterable

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.links.topology import broker_name
from onceproof.harness.wait import wait_until

Partition = tuple[str, int]


def led(context: RunContext, node: int) -> list[Partition]:
    """The partitions that a broker leads.

    Raises:
        Overdue: no broker tells.
    """

    def ask() -> list[list[Partition]]:
        with context.view() as view:
            found = view.clients()
        if found is None:
            return []
        # In a list: a broker that leads nothing is an answer too.
        return [[(p.topic, p.partition) for p in found if p.leader == node]]

    (leads,) = wait_until(
        ask,
        what=f"a broker to tell what {broker_name(node)} leads",
        seconds=15,
        stop=context.stop,
    )
    return leads


def in_words(partitions: Iterable[Partition]) -> str:
    """`orders [0, 2], payments [1]`."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return ", ".join(f"{topic} {numbers}" for topic, numbers in topics.items()) or "nothing"
