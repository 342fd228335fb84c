"""Clients against brokers: no audience reaches a broker, and the brokers reach each other.

For the cluster nothing has happened, so nothing moves: it leads, and nobody
can send.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand, broker
from onceproof.harness.faults.severed import Severed
from onceproof.harness.faults.targets.brokers import Target
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.topology import AUDIENCES, Link


@dataclass(frozen=True, kw_only=True)
class CutClients:
    """Cut the ways of all audiences to a broker, or to all of them."""

    kind: ClassVar[str] = "partition"
    needs: ClassVar[str | None] = "links"
    target: Target | None = None
    """None means all brokers."""

    def describe(self) -> str:
        return f"cut all clients from {self.target.describe() if self.target else 'all brokers'}"

    def inject(self, context: RunContext, name: str) -> Severed:
        """Cut them."""
        brokers = (self.target.resolve(context),) if self.target else context.stage.brokers
        links = [Link(audience, node) for audience in AUDIENCES for node in brokers]
        return Severed(context, links, f"all audiences→{', '.join(brokers)}")


BY_HAND: Final = ByHand(
    name="cut-clients",
    takes=("TARGET|all",),
    example="cut-clients all",
    says="cut the ways of all audiences to a broker, or to all; brokers reach each other",
    make=lambda who: CutClients(target=None if who == "all" else broker(who)),
)
