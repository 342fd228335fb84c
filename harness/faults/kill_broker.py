"""SIGKILL of a broker; restarted when another one leads what it led."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.by_hand import ByHand, broker
from harness.faults.targets import Target
from harness.stage.topology import broker_name, node_id
from harness.wait import wait_until


@dataclass(frozen=True, kw_only=True)
class KillBroker:
    """SIGKILL a broker and take its proxies down with it."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = "kill"
    target: Target

    def describe(self) -> str:
        """The act in words."""
        return f"SIGKILL {self.target.describe()}"

    def inject(self, bench: Bench, name: str) -> _Killed:
        """Kill it."""
        return _Killed(bench, self.target.resolve(bench), name)


BY_HAND: Final = ByHand(
    name="kill",
    takes=("TARGET",),
    says="SIGKILL a broker; it is restarted when healed",
    make=lambda who: KillBroker(target=broker(who)),
)


class _Killed:
    def __init__(self, bench: Bench, node: str, name: str) -> None:
        self._bench = bench
        self._node = node
        self._number = node_id(node)
        self._led = bench.view().led_by(self._number, bench.topic)
        self.target = f"{node} (leads {bench.topic} {self._led})"
        self.at = now()
        self._death = bench.stage.kill(node, f"SIGKILL by fault «{name}»")
        self._survivors = bench.view(without=self._number)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Its exit signal, and new leaders for all that it led."""
        if self._proof is None:
            leaders = {p: self._survivors.leader(self._bench.topic, p) for p in self._led}
            if all(leader not in (None, self._number) for leader in leaders.values()):
                moved = ", ".join(
                    f"{self._bench.topic}-{p} to {broker_name(leader or 0)}"
                    for p, leader in leaders.items()
                )
                seconds = (now() - self.at) / 1e9
                self._proof = (
                    f"{self._death}; leadership moved after {seconds:.1f} s: "
                    f"{moved or 'it led nothing'}"
                )
        return self._proof

    def heal(self) -> None:
        """Restart it and wait until it is in sync everywhere."""
        self._bench.stage.restart(self._node)
        wait_in_sync(self._bench)

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""


def wait_in_sync(bench: Bench) -> None:
    """Wait until every broker sees all replicas of every partition in sync.

    An isolated broker believes what it last knew, so every broker is asked by itself.
    """
    views = bench.views()

    def whole() -> bool:
        return all(view.in_sync_everywhere() for view in views)

    wait_until(
        whole,
        what="all replicas to be in sync",
        seconds=40,
        every=0.1,
        stop=bench.stop,
        seen=lambda: [view.out_of_sync() for view in views],
    )
    for view in views:
        view.close()
