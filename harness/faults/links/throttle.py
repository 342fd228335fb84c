"""Limit the bandwidth of a link in one direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probed_link import OnLink
from onceproof.harness.faults.links.slower import ThroughputProbe
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.words import Source, Way, Word
from onceproof.harness.links.disturbances import Toxic
from onceproof.harness.links.topology import Link

_LEAST: Final = 2_000
"""Minimum bytes that the probe sends or requests; at higher rates, those of half a second."""


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """Limit the bandwidth of a link in one direction."""

    example: ClassVar[str] = "throttle pipeline leader:payments-0 responses 16"
    kind: ClassVar[str] = "timeout"
    needs = "links"
    source: Source
    target: AnyNode
    way: Way
    kilobytes: Annotated[int, Word("KB-PER-SECOND")]

    def describe(self) -> str:
        return (
            f"limit the {self.way} between {self.source} and {self.target.describe()} to "
            f"{self.kilobytes} kB/s"
        )

    def inject(self, context: RunContext, name: str) -> OnLink:
        link = Link(self.source, self.target.resolve(context))
        how = Toxic(type="bandwidth", way=self.way, attributes={"rate": self.kilobytes})
        slower = ThroughputProbe(
            self.way,
            size=max(_LEAST, self.kilobytes * 500),
            seconds=lambda size: size / (self.kilobytes * 1000),
        )
        return OnLink(context, link, how, slower)
