"""SIGKILL of a broker; restarted when another one leads what it led."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.back import Restart
from onceproof.harness.faults.by_hand import ByHand, broker
from onceproof.harness.faults.led import in_words, led
from onceproof.harness.faults.targets import Target
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.topology import broker_name, node_id


@dataclass(frozen=True, kw_only=True)
class KillBroker:
    """SIGKILL a broker and take its proxies down with it."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = "kill"
    target: Target

    def describe(self) -> str:
        return f"SIGKILL {self.target.describe()}"

    def inject(self, context: RunContext, name: str) -> _Killed:
        """Kill it."""
        return _Killed(context, self.target.resolve(context), name)


BY_HAND: Final = ByHand(
    name="kill",
    takes=("TARGET",),
    example="kill leader:payments-0",
    says="SIGKILL a broker; it is restarted when healed",
    make=lambda who: KillBroker(target=broker(who)),
)


class _Killed:
    def __init__(self, context: RunContext, node: str, name: str) -> None:
        self._context = context
        self._node = node
        self._number = node_id(node)
        self._led = led(context.view(), self._number)
        self.target = f"{node} (leads {in_words(self._led)})"
        self.at = now()
        self._death = context.stage.kill(node, f"SIGKILL by fault «{name}»")
        self._survivors = context.view(without=self._number)
        self._proof: str | None = None
        self._restart = Restart(context, node)

    def evidence(self) -> str | None:
        """Its exit signal, and who leads now what it led: others, or nobody if no other could."""
        if self._proof is None:
            said = {(p.topic, p.partition): p.leader for p in self._survivors.clients()}
            leaders = {key: said.get(key, self._number) for key in self._led}
            if self._number not in leaders.values():
                moved = ", ".join(
                    f"{topic}-{p} to {broker_name(leader) if leader >= 0 else 'nobody'}"
                    for (topic, p), leader in leaders.items()
                )
                seconds = (now() - self.at) / 1e9
                word = f"leadership moved after {seconds:.1f} s: {moved}"
                self._proof = f"{self._death}; {word if moved else 'it led nothing'}"
        return self._proof

    def heal(self) -> None:
        """Restart it and wait until it is in sync wherever it has a replica."""
        self._restart()
