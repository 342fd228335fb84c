"""What the other brokers say of one that a fault acts on.

The one thing to know: the one itself goes on telling what it last knew, if it tells anything, so it
is not asked.
"""

from __future__ import annotations

from harness.bench import Bench
from harness.clock import now
from harness.stage.topology import node_id


class Majority:
    """All brokers but one, asked about that one."""

    def __init__(self, bench: Bench, node: str) -> None:
        """Note what it leads, before it is disturbed."""
        self._node = node
        self._number = node_id(node)
        self._topic = bench.topic
        self._led = bench.view().led_by(self._number, bench.topic)
        self._view = bench.view(without=self._number)
        self.target = f"{node} (leads {bench.topic} {self._led})"

    def took_it_out(self, since: int) -> str | None:
        """Their word that it leads nothing of the topic and is in none of its in-sync sets."""
        if not self._view.does_without(self._number, self._topic):
            return None
        return (
            f"the majority took {self._node} out of every in-sync set after "
            f"{(now() - since) / 1e9:.1f} s"
            + (f" and moved the leadership of {self._led}" if self._led else "")
        )
