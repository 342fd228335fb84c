"""Latency on a link, with jitter that we draw.

The one thing to know: toxiproxy's own jitter cannot be repeated, because its seed has no effect. So
it gets one latency at a time, drawn here from a seed; each is measured before the next takes its
place, and all of them stand in the evidence.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.by_hand import ByHand, amount, target, way
from harness.faults.on_link import OnLink
from harness.faults.probe import Probe
from harness.faults.targets import Target
from harness.links.ledger import Foul, Way
from harness.stage.topology import Link

DRAWS: Final = 5


@dataclass(frozen=True, kw_only=True)
class Delay:
    """Let each piece of one direction take so many milliseconds longer, more or less."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = "links"
    source: str
    target: Target
    way: Way
    milliseconds: int
    jitter: int = 0
    seed: int = 0

    def describe(self) -> str:
        """The act in words."""
        return (
            f"delay the {self.way} between {self.source} and {self.target.describe()} by "
            f"{self.milliseconds} ± {self.jitter} ms (seed {self.seed})"
        )

    def drawn(self) -> list[int]:
        """The latencies, in their order."""
        draw = random.Random(self.seed)
        least = max(1, self.milliseconds - self.jitter)
        return [draw.randint(least, self.milliseconds + self.jitter) for _ in range(DRAWS)]

    def inject(self, bench: Bench, name: str) -> _Delayed:
        """Begin with the first."""
        return _Delayed(bench, Link(self.source, self.target.resolve(bench)), self)


BY_HAND: Final = ByHand(
    name="delay",
    takes=("SOURCE", "TARGET", "WAY", "MS", "JITTER"),
    says="let everything on a link take longer in one direction, by MS ± JITTER",
    make=lambda source, who, which, delay, jitter: Delay(
        source=source,
        target=target(who),
        way=way(which),
        milliseconds=amount(delay),
        jitter=amount(jitter, least=0),
    ),
)


class _Delayed:
    """One latency after the other, each a disturbance of its own; the last one stays."""

    def __init__(self, bench: Bench, link: Link, fault: Delay) -> None:
        self._bench = bench
        self._link = link
        self._way = fault.way
        self._left = fault.drawn()
        self._told: list[str] = []
        self.target = f"{link} by {', '.join(map(str, self._left))} ms"
        self.at = now()
        self._now = self._next()

    def evidence(self) -> str | None:
        """All latencies drawn, and what the probe measured of each."""
        word = self._now.evidence()
        if word is not None and self._left:
            self._told.append(word)
            self._now.heal()
            self._now = self._next()
            return None
        return None if word is None else "; ".join([*self._told, word])

    def heal(self) -> None:
        """Undo what is left of it."""
        self._now.heal()

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""

    def _next(self) -> OnLink:
        milliseconds = self._left.pop(0)
        how = Foul(type="latency", way=self._way, attributes={"latency": milliseconds})
        return OnLink(self._bench, self._link, how, _Round(milliseconds))


class _Round:
    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds
        self._before = 0.0

    def before(self, probe: Probe) -> None:
        """How long an answer takes without it."""
        self._before = probe.ask().seconds * 1000

    def met(self, probe: Probe) -> str | None:
        """How long an answer takes with it, and that it did not without."""
        took = probe.ask().seconds * 1000
        if not self._before < self._milliseconds <= took:
            return None
        return f"{self._milliseconds} ms drawn, and {took:.0f} ms taken by an answer"

    def after(self, probe: Probe) -> None:
        """Nothing is owed to it."""
