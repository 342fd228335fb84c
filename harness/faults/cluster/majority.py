"""The other brokers' view of a broker that a fault acts on, in all client topics.

The broker itself is not asked, because its metadata may be stale.
"""

from __future__ import annotations

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.leadership import in_words, led
from onceproof.harness.links.topology import node_id


class Majority:
    """The other brokers' view of one broker."""

    def __init__(self, context: RunContext, node: str) -> None:
        self._node = node
        self._number = node_id(node)
        self._led = led(context, self._number)
        self._view = context.view(without=self._number)
        self.target = f"{node} (leads {in_words(self._led)})"

    def describe_removal(self, since: int) -> str | None:
        """Confirm that it leads nothing and is in no ISR with another replica; None until then."""
        if not self._view.does_without(self._number):
            return None
        return (
            f"the majority removed {self._node} from every in-sync set after "
            f"{(now() - since) / 1e9:.1f} s"
            + (f" and moved the leadership of {in_words(self._led)}" if self._led else "")
        )
