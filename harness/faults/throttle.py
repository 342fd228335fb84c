"""A link whose bandwidth is limited in one direction."""

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

_LEAST: Final = 2_000
"""Bytes that the probe sends or asks for, also at a very low rate; else those of half a second."""


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """Let no more than so many kilobytes a second pass in one direction."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = "links"
    source: str
    target: Target
    way: Way
    kilobytes: int

    def describe(self) -> str:
        return (
            f"let {self.kilobytes} kB a second of the {self.way} pass between {self.source} and "
            f"{self.target.describe()}"
        )

    def inject(self, context: RunContext, name: str) -> OnLink:
        """Throttle it."""
        link = Link(self.source, self.target.resolve(context))
        how = Toxic(type="bandwidth", way=self.way, attributes={"rate": self.kilobytes})
        slower = Slower(
            self.way,
            size=max(_LEAST, self.kilobytes * 500),
            seconds=lambda size: size / (self.kilobytes * 1000),
        )
        return OnLink(context, link, how, slower)


BY_HAND: Final = ByHand(
    name="throttle",
    takes=("SOURCE", "TARGET", "WAY", "KB-PER-SECOND"),
    example="throttle pipeline leader:payments-0 responses 16",
    says="let no more than so much pass on a link, in one direction",
    make=lambda source, who, which, rate: Throttle(
        source=source, target=target(who), way=way(which), kilobytes=amount(rate)
    ),
)
