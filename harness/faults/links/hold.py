"""Hold the bytes on a link and deliver them late, complete and in order.

Toxiproxy delivers them when the toxic is removed, even if the sender has closed its connection. So
a request can arrive long after its sender gave it up, as from a zombie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probed_link import OnLink
from onceproof.harness.faults.links.silence import Silence
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.words import Source, Way
from onceproof.harness.links.disturbances import Toxic
from onceproof.harness.links.topology import Link

_FOR_EVER: Final = 100_000_000
"""Milliseconds, more than a day."""


@dataclass(frozen=True, kw_only=True)
class HoldBytes:
    """Hold the requests or the responses on a link; they arrive, late, when it is healed."""

    example: ClassVar[str] = "hold producer leader:payments-0 responses"
    kind: ClassVar[str] = "timeout"
    needs = "links"
    source: Source
    target: AnyNode
    way: Way

    def describe(self) -> str:
        return f"hold the {self.way} between {self.source} and {self.target.describe()}"

    def inject(self, context: RunContext, name: str) -> OnLink:
        link = Link(self.source, self.target.resolve(context))
        how = Toxic(type="latency", way=self.way, attributes={"latency": _FOR_EVER})
        return OnLink(context, link, how, Silence(delivered=True))
