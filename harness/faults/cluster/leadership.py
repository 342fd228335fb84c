"""The partitions that a broker leads.

All client topics count, because a lab's user breaks the cluster under topics of their own.
"""

from __future__ import annotations

from collections.abc import Iterable

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.links.topology import broker_name
from onceproof.harness.wait import wait_until

Partition = tuple[str, int]


def led(context: RunContext, node: int) -> list[Partition]:
    """Return the partitions that a broker leads; raise `Overdue` if no broker answers."""

    def ask() -> list[list[Partition]]:
        with context.view() as view:
            found = view.clients()
        if found is None:
            return []
        # Wrapped in a list, so that "leads nothing" still ends the wait.
        return [[(p.topic, p.partition) for p in found if p.leader == node]]

    (leads,) = wait_until(
        ask,
        what=f"a broker to report which partitions {broker_name(node)} leads",
        seconds=15,
        stop=context.stop,
    )
    return leads


def in_words(partitions: Iterable[Partition]) -> str:
    """Format partitions as `orders [0, 2], payments [1]`."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return ", ".join(f"{topic} {numbers}" for topic, numbers in topics.items()) or "nothing"
