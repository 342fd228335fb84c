"""Drop responses on any link: the request is carried out, but its sender never learns of it.

Unlike `lose-responses`, this works on every link, but does not know which sends were retried.
"""

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
class LoseAnswers:
    """Drop the responses of a node to an audience or a broker."""

    example: ClassVar[str] = "lose-answers pipeline postgres"
    kind: ClassVar[str] = "timeout"
    needs = "links"
    source: Source
    target: AnyNode

    def describe(self) -> str:
        return f"drop the responses of {self.target.describe()} to {self.source}"

    def inject(self, context: RunContext, name: str) -> OnLink:
        link = Link(self.source, self.target.resolve(context))
        return OnLink(context, link, lose("responses"), Silence())
