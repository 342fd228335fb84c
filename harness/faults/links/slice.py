"""Split the data on a link into small pieces with pauses between them.

Healing closes the connections, because Toxiproxy cannot stop slicing an open one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probed_link import OnLink
from onceproof.harness.faults.links.slower import ThroughputProbe
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.words import Source, Way, Word, amount
from onceproof.harness.links.disturbances import Toxic
from onceproof.harness.links.topology import Link

_PIECES: Final = 50
"""Approximate number of pieces that the probe sends or receives."""


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Split the data on a link, in one direction, into small pieces with pauses between them."""

    example: ClassVar[str] = "slice producer leader:payments-0 requests 10 1000"
    kind: ClassVar[str] = "timeout"
    needs = "links"
    source: Source
    target: AnyNode
    way: Way
    size: Annotated[int, Word("BYTES", partial(amount, least=2))]
    microseconds: Annotated[int, Word("MICROSECONDS")]

    def describe(self) -> str:
        return (
            f"slice the {self.way} between {self.source} and {self.target.describe()} into pieces "
            f"of {self.size} bytes, {self.microseconds} µs apart"
        )

    def inject(self, context: RunContext, name: str) -> OnLink:
        link = Link(self.source, self.target.resolve(context))
        # With a variation of 0, Toxiproxy would draw from an empty range.
        attributes = {"average_size": self.size, "size_variation": 1, "delay": self.microseconds}
        slower = ThroughputProbe(
            self.way,
            size=_PIECES * self.size,
            seconds=lambda size: size / (self.size + 1) * self.microseconds / 1_000_000,
        )
        return OnLink(
            context, link, Toxic(type="slicer", way=self.way, attributes=attributes), slower
        )
