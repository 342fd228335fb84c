"""A link whose bytes come in small pieces, with pauses between them.

Undoing it closes the link's connections, since toxiproxy cannot take the
pieces out of one that is under way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand, target
from onceproof.harness.faults.on_link import OnLink
from onceproof.harness.faults.slower import Slower
from onceproof.harness.faults.targets.brokers import Target
from onceproof.harness.faults.words import amount, way
from onceproof.harness.links.ledger import Toxic, Way
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.topology import Link

_PIECES: Final = 50
"""How many pieces the probe sends or asks for, or a few more."""


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Cut what passes in one direction into pieces, with a pause after each."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = "links"
    source: str
    target: Target
    way: Way
    size: int
    microseconds: int

    def describe(self) -> str:
        return (
            f"slice the {self.way} between {self.source} and {self.target.describe()} into "
            f"{self.size} bytes each, {self.microseconds} µs apart"
        )

    def inject(self, context: RunContext, name: str) -> OnLink:
        """Slice it."""
        link = Link(self.source, self.target.resolve(context))
        # A variation of 0 would make toxiproxy draw from nothing.
        attributes = {"average_size": self.size, "size_variation": 1, "delay": self.microseconds}
        slower = Slower(
            self.way,
            size=_PIECES * self.size,
            seconds=lambda size: size / (self.size + 1) * self.microseconds / 1_000_000,
        )
        return OnLink(
            context, link, Toxic(type="slicer", way=self.way, attributes=attributes), slower
        )


BY_HAND: Final = ByHand(
    name="slice",
    takes=("SOURCE", "TARGET", "WAY", "BYTES", "MICROSECONDS"),
    example="slice producer leader:payments-0 requests 10 1000",
    says="cut what passes on a link in one direction into small pieces with pauses between them",
    make=lambda source, who, which, size, pause: Slice(
        source=source,
        target=target(who),
        way=way(which),
        size=amount(size, least=2),
        microseconds=amount(pause),
    ),
)
