"""A broker cut off from its peers in both directions; clients still reach it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.by_hand import ByHand, target
from harness.faults.kill_broker import wait_in_sync
from harness.faults.led import in_words, led
from harness.faults.targets import Target
from harness.stage.topology import Link, node_id


@dataclass(frozen=True, kw_only=True)
class IsolateBroker:
    """Cut every link between a broker and the other brokers."""

    kind: ClassVar[str] = "partition"
    needs: ClassVar[str | None] = "links"
    target: Target

    def describe(self) -> str:
        """The act in words."""
        return f"isolate {self.target.describe()} from its peers"

    def inject(self, bench: Bench, name: str) -> _Isolated:
        """Cut the links."""
        return _Isolated(bench, self.target.resolve(bench))


BY_HAND: Final = ByHand(
    name="isolate",
    takes=("TARGET",),
    says="cut a broker off from its peers; clients still reach it",
    make=lambda who: IsolateBroker(target=target(who)),
)


class _Isolated:
    def __init__(self, bench: Bench, node: str) -> None:
        self._bench = bench
        self._node = node
        self._number = node_id(node)
        self._led = led(bench.view(), self._number)
        self.target = f"{node} (leads {in_words(self._led)})"
        peers = [n for n in bench.stage.brokers if n != node]
        self._links = [Link(a, b) for p in peers for a, b in ((node, p), (p, node))]
        self._closed = sum(bench.stage.connections(link) for link in self._links)
        self.at = now()
        with ExitStack() as undo:
            for link in self._links:
                undo.callback(bench.stage.mend, link)
                bench.stage.cut(link)
            undo.pop_all()  # from here on, healing is what mends them
        self._majority = bench.view(without=self._number)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """The majority's word: it leads nothing, and is in no ISR that has another member.

        The last member of an ISR stays in it, also when nobody reaches it any more.
        """
        if self._proof is None and self._closed:
            found = self._majority.clients()
            if found and not any(
                p.leader == self._number or (self._number in p.in_sync and len(p.in_sync) > 1)
                for p in found
            ):
                seconds = (now() - self.at) / 1e9
                self._proof = (
                    f"{self._closed} connections between brokers closed; the majority took "
                    f"{self._node} out of every in-sync set after {seconds:.1f} s"
                    + (f" and moved the leadership of {in_words(self._led)}" if self._led else "")
                )
        return self._proof

    def heal(self) -> None:
        """Mend the links and wait until it is in sync everywhere."""
        for link in self._links:
            self._bench.stage.mend(link)
        wait_in_sync(self._bench)

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""
