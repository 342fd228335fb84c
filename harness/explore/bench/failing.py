"""How a broker fails in a convoy, and how it is mended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Final

from onceproof.harness.context.run_context import addresses
from onceproof.harness.explore.acts import Breaks
from onceproof.harness.kafka.keeping import KEPT_IN
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.placing import place_leader
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import QUEUE_BROKER, Link, broker_name
from onceproof.harness.stage.local import LocalStage
from onceproof.harness.wait import Overdue, Stop, wait_until

_REPLACED_SECONDS: Final = 180.0
"""Includes the time until all clients are there."""
_TRIALS_SECONDS: Final = 300.0
_FOUND_SECONDS: Final = 20.0
"""How long clients have to find the other brokers before the broker that failed is back."""
_IN_SYNC_SECONDS: Final = 60.0


class Failing(ABC):
    """A broker that is to fail."""

    def __init__(self, stage: LocalStage, view: ClusterView, node: int, stop: Stop) -> None:
        self.broker = broker_name(node)
        self._node = node
        self._stage, self._view, self._stop = stage, view, stop

    def place(self) -> None:
        """Make it the coordinator of all groups and transactions."""
        for topic in KEPT_IN.values():
            for each in self._view.partitions(topic):
                place_leader(self._view, topic, each.partition, self._node, stop=self._stop)

    @abstractmethod
    def fail(self) -> None:
        """Let it fail; when this returns it does not work."""

    def wait_replaced(self, done: Callable[[], bool]) -> None:
        """Wait until all is done; at most until clients had time to see that others replaced it.

        So whoever cannot go on afterwards does not stall for want of a broker.
        """
        others = {n: to for n, to in addresses(self._stage).items() if n != self._node}
        with ClusterView(others) as view:
            wait_until(
                lambda: done() or view.does_without(self._node),
                what=f"the others to replace {self.broker}",
                seconds=_REPLACED_SECONDS,
                every=0.1,
                stop=self._stop,
                seen=view.out_of_sync,
            )
        with suppress(Overdue):
            wait_until(done, what="", seconds=_FOUND_SECONDS, every=0.1, stop=self._stop)

    def mend(self) -> None:
        """Undo it, if it failed, and wait until every replica is in sync."""
        self._undo()
        wait_until(
            self._view.in_sync_everywhere,
            what="every replica to be in sync",
            seconds=_IN_SYNC_SECONDS,
            every=0.1,
            stop=self._stop,
            seen=self._view.out_of_sync,
        )

    @abstractmethod
    def _undo(self) -> None: ...


class _Killed(Failing):
    """It is killed, and started again."""

    def fail(self) -> None:
        self._stage.kill(self.broker, "killed while requests are on their way to it")

    def _undo(self) -> None:
        if not self._stage.alive(self.broker):
            self._stage.restart(self.broker)


class _Isolated(Failing):
    """Its connections to its peers are cut; clients still reach it."""

    def __init__(self, stage: LocalStage, view: ClusterView, node: int, stop: Stop) -> None:
        super().__init__(stage, view, node, stop)
        self._holds = ExitStack()

    def fail(self) -> None:
        for peer in self._stage.brokers:
            if peer != self.broker:
                for link in (Link(self.broker, peer), Link(peer, self.broker)):
                    self._holds.enter_context(self._stage.disturb(link, CUT))

    def _undo(self) -> None:
        self._holds.close()


class QueueBrokerKilled(Failing):
    """The queue broker is killed, and started again at once, since no other one replaces it."""

    def __init__(self, stage: LocalStage, view: ClusterView, node: int, stop: Stop) -> None:
        super().__init__(stage, view, node, stop)
        self.broker = QUEUE_BROKER

    def place(self) -> None:
        return

    def fail(self) -> None:
        self._stage.kill(self.broker, "killed while forwarders are held")
        self._stage.restart(self.broker)

    def wait_replaced(self, done: Callable[[], bool]) -> None:
        wait_until(
            done,
            what=f"the trials in which {self.broker} is killed",
            seconds=_TRIALS_SECONDS,
            every=0.1,
            stop=self._stop,
        )

    def mend(self) -> None:
        self._undo()

    def _undo(self) -> None:
        if not self._stage.alive(self.broker):
            self._stage.restart(self.broker)


FAILING: Final[Mapping[Breaks, Callable[[LocalStage, ClusterView, int, Stop], Failing]]] = {
    "killed": _Killed,
    "isolated": _Isolated,
}
