"""Add latency to a link, with reproducible jitter.

Toxiproxy ignores the seed of its jitter. So the latencies are drawn here from a seed and set one
after the other; each is measured, and all of them are in the evidence.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.rounds import Rounds
from onceproof.harness.faults.links.probe import LOOKS, Probe
from onceproof.harness.faults.links.probed_link import OnLink
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.words import Source, Way, Word, amount
from onceproof.harness.links.disturbances import Toxic
from onceproof.harness.links.topology import Link

DRAWS: Final = 5


@dataclass(frozen=True, kw_only=True)
class Delay:
    """Delay everything on a link in one direction, by MS ± JITTER."""

    example: ClassVar[str] = "delay pipeline follower:payments-0 responses 200 50"
    kind: ClassVar[str] = "timeout"
    needs = "links"
    source: Source
    target: AnyNode
    way: Way
    milliseconds: Annotated[int, Word("MS")]
    jitter: Annotated[int, Word("JITTER", partial(amount, least=0))] = 0
    seed: int = 0

    def describe(self) -> str:
        return (
            f"delay the {self.way} between {self.source} and {self.target.describe()} by "
            f"{self.milliseconds} ± {self.jitter} ms (seed {self.seed})"
        )

    def drawn(self) -> list[int]:
        """Draw the latencies, in order."""
        draw = random.Random(self.seed)
        least = max(1, self.milliseconds - self.jitter)
        return [draw.randint(least, self.milliseconds + self.jitter) for _ in range(DRAWS)]

    def inject(self, context: RunContext, name: str) -> Rounds:
        link = Link(self.source, self.target.resolve(context))
        return Rounds([partial(self._late, context, link, each) for each in self.drawn()])

    def _late(self, context: RunContext, link: Link, milliseconds: int) -> OnLink:
        how = Toxic(type="latency", way=self.way, attributes={"latency": milliseconds})
        return OnLink(context, link, how, _Round(milliseconds))


class _Round:
    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds
        self._before = 0.0

    def before(self, probe: Probe) -> None:
        self._before = 1000 * min(probe.ask().seconds for _ in range(LOOKS))

    def met(self, probe: Probe) -> str | None:
        took = probe.ask().seconds * 1000
        if not self._before < self._milliseconds <= took:
            return None
        return f"{self._milliseconds} ms drawn; an answer took {took:.0f} ms"

    def after(self, probe: Probe) -> None:
        """Nothing to check."""
