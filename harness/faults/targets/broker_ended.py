"""Kill or stop a broker."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.leadership import in_words, led
from onceproof.harness.faults.cluster.majority import Majority
from onceproof.harness.faults.cluster.rejoin import Restart
from onceproof.harness.links.topology import broker_name, node_id
from onceproof.harness.stage.base import SHUT_DOWN_SECONDS
from onceproof.harness.wait import wait_until


class KilledBroker:
    """A broker that was killed; its proxies are down too."""

    def __init__(self, context: RunContext, node: str, name: str) -> None:
        self._context = context
        self._node = node
        self._number = node_id(node)
        self._led = led(context, self._number)
        self.target = f"{node} (leads {in_words(self._led)})"
        self.at = now()
        self._death = context.stage.kill(node, f"SIGKILL by fault «{name}»")
        self._survivors = context.view(without=self._number)
        self._proof: str | None = None
        self._restart = Restart(context, node)

    def evidence(self) -> str | None:
        """Return its exit signal and the new leaders, if any, of its partitions."""
        if self._proof is None:
            reported = {(p.topic, p.partition): p.leader for p in self._survivors.clients() or ()}
            leaders = {key: reported.get(key, self._number) for key in self._led}
            if self._number not in leaders.values():
                moved = ", ".join(
                    f"{topic}-{p} to {broker_name(leader) if leader >= 0 else 'nobody'}"
                    for (topic, p), leader in leaders.items()
                )
                seconds = (now() - self.at) / 1e9
                change = f"leadership moved after {seconds:.1f} s: {moved}"
                self._proof = f"{self._death}; {change if moved else 'it led no partition'}"
        return self._proof

    def heal(self) -> None:
        self._restart()


class StoppedBroker:
    """A broker that was stopped, as in an upgrade.

    Kafka hands over its leaderships before it ends. One that moves only afterwards proves nothing.
    """

    def __init__(self, context: RunContext, node: str, name: str) -> None:
        self._restart = Restart(context, node)
        majority = Majority(context, node)
        self.target = majority.target
        self.at = now()
        with ThreadPoolExecutor(1) as pool:
            end = pool.submit(context.stage.shut_down, node, f"SIGTERM by fault «{name}»")
            wait_until(
                lambda: majority.describe_removal(self.at) or end.done(),
                what=f"{node} to hand over its leadership, or to exit",
                seconds=2 * SHUT_DOWN_SECONDS,
                stop=context.stop,
            )
            # Ask now: without a handover, the others miss it some seconds after its end.
            removed = majority.describe_removal(self.at)
        ended = end.result()
        self._proof = f"{ended}; {removed}" if removed else None

    def evidence(self) -> str | None:
        return self._proof

    def heal(self) -> None:
        self._restart()
