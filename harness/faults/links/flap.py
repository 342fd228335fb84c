"""Cut a link repeatedly, each time as soon as it is used again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.cluster.rounds import Rounds
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.faults.words import Audience, Word
from onceproof.harness.links.topology import Link
from onceproof.harness.wait import wait_until


@dataclass(frozen=True, kw_only=True)
class Flap:
    """Cut a link TIMES times, each time as soon as it is used again."""

    example: ClassVar[str] = "flap pipeline broker-3 5"
    kind: ClassVar[str] = "partition"
    needs = "cut"
    source: Audience
    target: AnyNode
    times: Annotated[int, Word("TIMES")]

    def describe(self) -> str:
        return f"cut {self.source} from {self.target.describe()} {self.times} times"

    def inject(self, context: RunContext, name: str) -> Rounds:
        link = Link(self.source, self.target.resolve(context))
        return Rounds([partial(_cut, context, link, name)] * self.times)


def _cut(context: RunContext, link: Link, name: str) -> Injection:
    wait_until(
        lambda: context.stage.connections(link),
        what=f"a connection on {link}",
        seconds=40,
        stop=context.stop,
    )
    return CutLink(source=link.source, target=Node(name=link.target)).inject(context, name)
