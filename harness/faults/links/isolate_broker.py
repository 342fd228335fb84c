"""Isolate a broker from its peers in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.majority import Majority
from onceproof.harness.faults.cluster.rejoin import wait_back
from onceproof.harness.faults.links.disturbing import disturb
from onceproof.harness.faults.roles import Broker
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link


@dataclass(frozen=True, kw_only=True)
class IsolateBroker:
    """Cut a broker off from its peers; clients still reach it."""

    example: ClassVar[str] = "isolate controller"
    kind: ClassVar[str] = "partition"
    needs = "links"
    target: Broker

    def describe(self) -> str:
        return f"isolate {self.target.describe()} from its peers"

    def inject(self, context: RunContext, name: str) -> _Isolated:
        return _Isolated(context, self.target.resolve(context))


class _Isolated:
    def __init__(self, context: RunContext, node: str) -> None:
        self._context = context
        self._node = node
        self._majority = Majority(context, node)
        self.target = self._majority.target
        peers = [n for n in context.stage.brokers if n != node]
        links = [Link(a, b) for p in peers for a, b in ((node, p), (p, node))]
        self._closed = sum(context.stage.connections(link) for link in links)
        self.at = now()
        self._hold = disturb(context.stage, [(link, CUT) for link in links])
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if (
            self._proof is None
            and self._closed
            and (left := self._majority.describe_removal(self.at))
        ):
            self._proof = f"{self._closed} connections between brokers closed; {left}"
        return self._proof

    def heal(self) -> None:
        self._hold.release()
        wait_back(self._context, self._node)
