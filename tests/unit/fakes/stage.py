"""One fake of a stage: nodes and links in memory, which do at once what they are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from onceproof.harness.kafka.metadata import ClusterView, Replicas
from onceproof.harness.links.disturbances import Disturbance, Hold, Ledger
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.links.topology import POSTGRES, QUEUE_BROKER, Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.base import Stage

if TYPE_CHECKING:
    from onceproof.harness.http_service.control import HttpControl
    from onceproof.harness.links.gate.client import Event, HeldKey, Placed
    from onceproof.harness.queues.auditor import QueueAuditor

Said = dict[tuple[str, int], tuple[int, set[int]]]
"""(topic, partition) → leader and in-sync replicas."""

BEFORE: Said = {
    ("__consumer_offsets", 0): (2, {1, 2, 3}),
    ("orders", 0): (2, {1, 2, 3}),
    ("orders", 1): (1, {1, 2, 3}),
    ("orders", 2): (2, {1, 2, 3}),
    ("payments", 0): (2, {1, 2, 3}),
}


@dataclass(kw_only=True)
class FakeGate:
    """A gate of one link; `fired` is what it tells of every rule that is put on it."""

    fired: list[Event] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    removed: list[tuple[bool, str | None]] = field(default_factory=list)
    held: list[Event] = field(default_factory=list)
    """Those of `fired` that it still holds."""

    def put(self, rule: Rule) -> Placed:
        self.rules.append(rule)
        return cast("Placed", self)

    def arrived(self) -> list[Event]:
        return [{**event, "event": "fired"} for event in self.fired] if self.rules else []

    def remove(self, *, drop: bool = False, error: str | None = None) -> list[HeldKey]:
        self.rules.pop()
        self.removed.append((drop, error))
        return [(e["link"], e["connection"], e["correlation_id"]) for e in self.held]

    def state(self) -> dict[str, Any]:
        return {"rules": list(self.rules)}


@dataclass(kw_only=True)
class FakeStage:
    """Three brokers and a database, healthy until a test says otherwise.

    Attributes:
        said: what brokers say of the cluster's partitions.
        said_by: what one of them says instead, by its node id.
        dead: nodes that do not run.
        standing: nodes that are paused.
        open: connections on each link while it is not cut; one on a link that is not named.
        closes: whether a cut closes connections.
        reached: connections that reach brokers in any audience's name.
        refuses: a link that cannot be disturbed.
        unhealthy: what `disturbed` tells beside; an exception is raised.
        half_way: how many restarts fail although the node runs then.
        gates: what tells of rules, by link.
        story: which nodes were killed and restarted, in order.
    """

    backend: str = "fake"
    brokers: tuple[str, ...] = ("broker-1", "broker-2", "broker-3")
    services: tuple[str, ...] = (POSTGRES,)
    scratch: tuple[Path, ...] = ()
    said: Said = field(default_factory=lambda: dict(BEFORE))
    said_by: dict[int | None, Said] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    standing: set[str] = field(default_factory=set)
    open: Mapping[Link, int] = field(default_factory=dict)
    closes: bool = True
    reached: int = 0
    refuses: Link | None = None
    unhealthy: dict[str, str] | Exception = field(default_factory=dict)
    half_way: int = 0
    gates: dict[Link, FakeGate] = field(default_factory=dict)
    auditor: QueueAuditor | None = None
    http: HttpControl | None = None
    story: list[str] = field(default_factory=list)
    _ledger: Ledger = field(default_factory=Ledger, init=False)

    def start(self) -> None:
        """It is up."""

    def stop(self) -> None:
        """There is nothing to end."""

    def created(self, topics: list[str]) -> None:
        """It does not outlive a test."""

    @property
    def nodes(self) -> tuple[str, ...]:
        return (*self.brokers, *self.services)

    def alive(self, node: str) -> bool:
        return node not in self.dead

    def kill(self, node: str, how: str) -> str:
        self.story.append(f"kill: {how}")
        self.dead.add(node)
        return f"{node}#1 ended by signal 9"

    def shut_down(self, node: str, how: str) -> str:
        self.dead.add(node)
        return f"{node}#1 ended with status 143"

    def restart(self, node: str) -> None:
        assert node in self.dead
        self.dead.discard(node)
        self.story.append("restart")
        if self.half_way:
            self.half_way -= 1
            raise StageTrouble("it does not listen")

    def pause(self, node: str) -> str:
        self.standing.add(node)
        return f"{node}#1 stands still"

    def resume(self, node: str) -> None:
        self.standing.remove(node)

    def paused(self, node: str) -> bool:
        return node in self.standing

    def bootstrap(self, audience: str, node: str | None = None) -> str:
        return ",".join(f"{audience}.{name}:9092" for name in ([node] if node else self.brokers))

    def database(self, audience: str) -> str:
        return f"host={audience}" if POSTGRES in self.services else ""

    def queue_broker(self, audience: str) -> str:
        return f"{audience}:5672" if QUEUE_BROKER in self.services else self._no_queues()

    def queues(self) -> QueueAuditor:
        return self.auditor or self._no_queues()

    @property
    def http_address(self) -> str:
        self.http_service()
        return "pipeline:8080"

    def http_service(self) -> HttpControl:
        if self.http is None:
            raise StageTrouble("there is no HTTP service")
        return self.http

    def _no_queues(self) -> NoReturn:
        raise StageTrouble("there is no queue broker")

    def links(self) -> tuple[Link, ...]:
        return tuple(self.open)

    def disturb(self, link: Link, how: Disturbance) -> Hold:
        if link == self.refuses:
            raise StageTrouble("the proxy does not answer")
        number = self._ledger.note([str(link)], how)
        self.open = {link: 1, **self.open}
        return Hold(lambda: self._ledger.strike(number))

    @property
    def cut(self) -> set[Link]:
        """Links that somebody holds cut."""
        return {link for link in self.open if not self._ledger.wanted(str(link)).enabled}

    def entrance(self, link: Link) -> str:
        return f"{link.source}.{link.target}:9092"

    def gate(self, link: Link) -> FakeGate:
        return self.gates.setdefault(link, FakeGate())

    def ungate(self, link: Link) -> None:
        self.gates.pop(link, None)

    def connections(self, link: Link) -> int:
        return 0 if self.closes and link in self.cut else self.open.get(link, 1)

    def connected(self, audience: str) -> int:
        return self.reached

    def disturbed(self) -> dict[str, str]:
        if isinstance(self.unhealthy, Exception):
            raise self.unhealthy
        return (
            dict.fromkeys(self.dead, "not running")
            | dict.fromkeys(self.standing, "paused")
            | {str(link): "disabled" for link in self.cut}
            | self.unhealthy
        )

    def versions(self) -> dict[str, str]:
        return {}

    def settings(self) -> dict[str, object]:
        return {}


class FakeView(ClusterView):
    """What a stage's brokers say of the cluster; of one alone if its node id is given."""

    def __init__(self, stage: FakeStage, node: int | None = None) -> None:
        super().__init__({})
        self._stage, self._node = stage, node

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

    def clients(self) -> list[Replicas] | None:
        found = self.partitions()
        return [p for p in found if not p.topic.startswith("__")] if found else None

    def _said(self) -> Said:
        return self._stage.said_by.get(self._node, self._stage.said)


_: type[Stage] = FakeStage
