"""A broker paused: it stands still, and goes on later as if nothing had happened.

The one thing to know: unlike a dead one it keeps its connections, so nobody is told that it is
gone; whoever asks it waits for a time-out. And it comes back with all that it believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.bench import Aftermath, Bench
from onceproof.harness.clock import now
from onceproof.harness.faults.back import wait_back
from onceproof.harness.faults.by_hand import ByHand, broker
from onceproof.harness.faults.majority import Majority
from onceproof.harness.faults.targets import Target


@dataclass(frozen=True, kw_only=True)
class PauseBroker:
    """Pause a broker; resumed when the others do without it."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = "pause"
    target: Target

    def describe(self) -> str:
        """The act in words."""
        return f"pause {self.target.describe()}"

    def inject(self, bench: Bench, name: str) -> _Paused:
        """Pause it."""
        return _Paused(bench, self.target.resolve(bench))


BY_HAND: Final = ByHand(
    name="pause",
    takes=("TARGET",),
    example="pause coordinator:group:billing",
    says="pause a broker: it keeps its connections and does not answer",
    make=lambda who: PauseBroker(target=broker(who)),
)


class _Paused:
    def __init__(self, bench: Bench, node: str) -> None:
        self._bench = bench
        self._node = node
        self._majority = Majority(bench, node)
        self.target = self._majority.target
        self.at = now()
        self._seen = bench.stage.pause(node)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Its state, and the majority's word: it leads nothing and is in no in-sync set."""
        if self._proof is None and self._bench.stage.paused(self._node):
            word = self._majority.took_it_out(self.at)
            self._proof = f"{self._seen}; {word}" if word else None
        return self._proof

    def heal(self) -> None:
        """Let it go on and wait until it is in sync wherever it has a replica."""
        if self._bench.stage.paused(self._node):
            self._bench.stage.resume(self._node)
        wait_back(self._bench, self._node)

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""
