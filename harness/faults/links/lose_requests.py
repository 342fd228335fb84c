"""Drop requests on a link without an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probed_link import OnLink
from onceproof.harness.faults.links.silence import Silence
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.words import Source
from onceproof.harness.links.disturbances import lose
from onceproof.harness.links.topology import Link


@dataclass(frozen=True, kw_only=True)
class LoseRequests:
    """Drop the requests of an audience or a broker to a node."""

    example: ClassVar[str] = "lose-requests pipeline-sink coordinator:txn:tx-7"
    kind: ClassVar[str] = "timeout"
    needs = "links"
    source: Source
    target: AnyNode

    def describe(self) -> str:
        return f"drop the requests of {self.source} to {self.target.describe()}"

    def inject(self, context: RunContext, name: str) -> OnLink:
        link = Link(self.source, self.target.resolve(context))
        return OnLink(context, link, lose("requests"), Silence())
