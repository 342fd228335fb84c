"""Pause a broker. It keeps its connections, so clients time out, and resumes with stale state."""

from __future__ import annotations

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.majority import Majority
from onceproof.harness.faults.cluster.rejoin import wait_back


class PausedBroker:
    """A paused broker."""

    def __init__(self, context: RunContext, node: str) -> None:
        self._context = context
        self._node = node
        self._majority = Majority(context, node)
        self.target = self._majority.target
        self.at = now()
        self._seen = context.stage.pause(node)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._proof is None and self._context.stage.paused(self._node):
            removed = self._majority.describe_removal(self.at)
            self._proof = f"{self._seen}; {removed}" if removed else None
        return self._proof

    def heal(self) -> None:
        if self._context.stage.paused(self._node):
            self._context.stage.resume(self._node)
        wait_back(self._context, self._node)
