"""Cut all clients off from brokers, which still reach each other, so no leadership moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.cut_links import CutLinksInjection
from onceproof.harness.faults.roles import BROKERS, role
from onceproof.harness.faults.targets.brokers import Target
from onceproof.harness.faults.words import Word
from onceproof.harness.links.topology import AUDIENCES, Link


def _which(word: str) -> Target | None:
    return None if word == "all" else role(word, BROKERS)


@dataclass(frozen=True, kw_only=True)
class CutClients:
    """Cut all audiences off from a broker, or from all; brokers still reach each other."""

    example: ClassVar[str] = "cut-clients all"
    kind: ClassVar[str] = "partition"
    needs = "links"
    target: Annotated[Target | None, Word("TARGET|all", _which)] = None
    """None means all brokers."""

    def describe(self) -> str:
        return f"cut all clients from {self.target.describe() if self.target else 'all brokers'}"

    def inject(self, context: RunContext, name: str) -> CutLinksInjection:
        brokers = (self.target.resolve(context),) if self.target else context.stage.brokers
        links = [Link(audience, node) for audience in AUDIENCES for node in brokers]
        return CutLinksInjection(context, links, f"all audiences→{', '.join(brokers)}")
