"""What the other brokers say of one that a fault acts on.

The one itself goes on telling what it last knew, if it tells anything, so it
is not asked. All topics that clients made count, not only the workload's: a lab's user breaks the
cluster under topics of her own.
"""

from __future__ import annotations

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.leadership import in_words, led
from onceproof.harness.links.topology import node_id


class Majority:
    """All brokers but one, asked about that one."""

    def __init__(self, context: RunContext, node: str) -> None:
        self._node = node
        self._number = node_id(node)
        self._led = led(context, self._number)
        self._view = context.view(without=self._number)
        self.target = f"{node} (leads {in_words(self._led)})"

    def took_it_out(self, since: int) -> str | None:
        """Their word that it leads nothing and is in no in-sync set that has another member."""
        if not self._view.does_without(self._number):
            return None
        return (
            f"the majority took {self._node} out of every in-sync set after "
            f"{(now() - since) / 1e9:.1f} s"
            + (f" and moved the leadership of {in_words(self._led)}" if self._led else "")
        )
