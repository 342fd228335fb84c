"""Cut two of three brokers off from each other. Each still sees a majority, so none is isolated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.cut_links import CutLinksInjection
from onceproof.harness.faults.roles import Broker
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Cut the two other brokers off from each other; both still reach this one."""

    example: ClassVar[str] = "chain controller"
    kind: ClassVar[str] = "partition"
    needs = "links"
    middle: Broker

    def describe(self) -> str:
        return f"cut two brokers from each other, but not from {self.middle.describe()}"

    def inject(self, context: RunContext, name: str) -> CutLinksInjection:
        middle = self.middle.resolve(context)
        ends = [node for node in context.stage.brokers if node != middle]
        if len(ends) != 2:
            raise StageTrouble(f"chain needs 3 brokers; there are {len(context.stage.brokers)}")
        one, other = ends
        return CutLinksInjection(
            context, [Link(one, other), Link(other, one)], f"{one} – {middle} – {other}"
        )
