"""Drop all traffic from a broker to its peers, or from its peers to it.

Connections carry both directions. To silence a broker, requests are dropped on the connections that
it opened and responses on those that its peers opened. Kafka fences it in both cases, because a
peer without an answer reconnects, and a new connection starts with a request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.rejoin import wait_back
from onceproof.harness.faults.links.disturbing import disturb
from onceproof.harness.faults.links.probe import Probe, undisturbed
from onceproof.harness.faults.links.silence import Silence
from onceproof.harness.faults.roles import Broker
from onceproof.harness.faults.words import Word
from onceproof.harness.links.disturbances import Way, lose
from onceproof.harness.links.topology import Link

Lost = Literal["out", "in"]
_WAYS: Final[dict[Lost, tuple[Way, Way]]] = {
    "out": ("requests", "responses"),
    "in": ("responses", "requests"),
}
"""What is dropped on the links opened by the broker, and on those opened by its peers."""


@dataclass(frozen=True, kw_only=True)
class OneWay:
    """Drop everything that a broker sends to the other brokers, or that they send to it."""

    example: ClassVar[str] = "one-way leader:payments-0/not/controller out"
    kind: ClassVar[str] = "partition"
    needs = "links"
    target: Broker
    lost: Annotated[Lost, Word(noun="direction")]

    def describe(self) -> str:
        broker = self.target.describe()
        if self.lost == "out":
            return f"drop all data from {broker} to the other brokers"
        return f"drop all data from the other brokers to {broker}"

    def inject(self, context: RunContext, name: str) -> _Lost:
        return _Lost(context, self.target.resolve(context), self.lost)


class _Lost:
    def __init__(self, context: RunContext, node: str, lost: Lost) -> None:
        self._context = context
        self._node = node
        peers = [other for other in context.stage.brokers if other != node]
        own, theirs = _WAYS[lost]
        cuts = [(Link(node, peer), lose(own)) for peer in peers]
        cuts += [(Link(peer, node), lose(theirs)) for peer in peers]
        self.target = f"{node}{'→' if lost == 'out' else '←'}{', '.join(peers)}"
        self._carried = sum(context.stage.connections(link) for link, _ in cuts)
        self._probes: list[tuple[Probe, Silence]] = []
        try:
            for link, _ in cuts:
                self._probes.append((undisturbed(context.stage, link), Silence()))
            self.at = now()
            self._hold = disturb(context.stage, cuts)
        except BaseException:
            self._close()
            raise
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Return proof of silence on every link, if brokers had connections."""
        if self._proof is None and self._carried:
            met = [silence.met(probe) for probe, silence in self._probes]
            if all(met):
                self._proof = (
                    f"{self._carried} connections between brokers; on each of {len(met)} links "
                    f"{met[0]}"
                )
        return self._proof

    def heal(self) -> None:
        self._hold.release()
        self._close()
        wait_back(self._context, self._node)

    def _close(self) -> None:
        for probe, _ in self._probes:
            probe.close()
