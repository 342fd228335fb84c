"""A cluster and its stage that are made up: what its brokers say is set by the test."""

from __future__ import annotations

from types import SimpleNamespace

from onceproof.harness.kafka.metadata import ClusterView, Replicas
from onceproof.harness.links.ledger import Disturbance, Hold
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Stop

Said = dict[tuple[str, int], tuple[int, set[int]]]
"""(topic, partition) → leader and in-sync replicas."""

BEFORE: Said = {
    ("__consumer_offsets", 0): (2, {1, 2, 3}),
    ("orders", 0): (2, {1, 2, 3}),
    ("orders", 1): (1, {1, 2, 3}),
    ("orders", 2): (2, {1, 2, 3}),
    ("payments", 0): (2, {1, 2, 3}),
}


class View(ClusterView):
    """What a cluster that is made up says."""

    def __init__(self, world: World, node: int | None = None) -> None:
        super().__init__({})
        self._world, self._node = world, node

    def partitions(self, topic: str | None = None) -> list[Replicas]:
        return [
            Replicas(
                topic=name,
                partition=partition,
                leader=leader,
                in_sync=frozenset(in_sync),
                replicas=frozenset({1, 2, 3}),
            )
            for (name, partition), (leader, in_sync) in self._said().items()
            if topic in (None, name)
        ]

    def _said(self) -> Said:
        return self._world.said_by.get(self._node, self._world.said)


class World:
    """A context with a stage of three brokers; what they say, all or one, is set by the test."""

    def __init__(self) -> None:
        self.said: Said = dict(BEFORE)
        self.said_by: dict[int | None, Said] = {}
        self.dead: set[str] = set()
        self.paused: set[str] = set()
        self.cut: set[Link] = set()
        self.refuses: Link | None = None
        self.story: list[str] = []
        self.restarts_fail_for = 0
        self.stop = Stop()
        self.topic = "payments"
        self.stage = SimpleNamespace(
            brokers=("broker-1", "broker-2", "broker-3"),
            nodes=("broker-1", "broker-2", "broker-3", "postgres"),
            bootstrap=lambda audience, node: f"{audience}.{node}:9092",
            alive=lambda node: node not in self.dead,
            connections=lambda link: 1,
            disturb=self._disturb,
            kill=self._kill,
            restart=self._restart,
            pause=self._pause,
            resume=self.paused.remove,
            paused=lambda node: node in self.paused,
            disturbed=lambda: (
                dict.fromkeys(self.dead, "not running")
                | dict.fromkeys(self.paused, "paused")
                | {str(link): "disabled" for link in self.cut}
            ),
            shut_down=lambda node, how: f"{node}#1 ended with status 143",
        )

    def view(self, *, without: int | None = None) -> View:
        return View(self)

    def views(self) -> dict[int, View]:
        return {node: View(self, node) for node in (1, 2, 3)}

    def answers(self, node: str) -> bool:
        return node not in self.dead | self.paused

    def _disturb(self, link: Link, how: Disturbance) -> Hold:
        if link == self.refuses:
            raise StageTrouble("the proxy does not answer")
        self.cut.add(link)
        return Hold(lambda: self.cut.discard(link))

    def _kill(self, node: str, how: str) -> str:
        self.story.append(f"kill: {how}")
        self.dead.add(node)
        return f"{node}#1 ended by signal 9"

    def _pause(self, node: str) -> str:
        self.paused.add(node)
        return f"{node}#1 stands still"

    def _restart(self, node: str) -> None:
        assert node in self.dead
        self.dead.discard(node)
        self.story.append("restart")
        if self.restarts_fail_for:
            self.restarts_fail_for -= 1
            raise StageTrouble("it does not listen")
