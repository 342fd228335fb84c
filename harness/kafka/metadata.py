"""Get metadata from chosen brokers: brokers, leaders, in-sync replicas, coordinators.

An isolated broker still answers with itself as leader. A view therefore asks only its own brokers,
in order, and takes the first answer. To compare brokers, create a view of each.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from kafka.protocol.admin import DescribeQuorumRequest, DescribeQuorumResponse
from kafka.protocol.metadata import (
    CoordinatorType,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)

from onceproof.harness.kafka.wire import Wire

_WITH_IDS = 12
_VERSION = 8  # the newest with topic names and without flexible headers

Coordinated = Literal["group", "transaction"]
_COORDINATED: Final = {"group": CoordinatorType.GROUP, "transaction": CoordinatorType.TRANSACTION}


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """One partition in a broker's metadata; `leader` is -1 if there is none."""

    topic: str
    partition: int
    leader: int
    in_sync: frozenset[int]
    replicas: frozenset[int]


class ClusterView:
    """The cluster's metadata as some brokers see it. Thread-safe."""

    def __init__(self, addresses: Mapping[int, str]) -> None:
        """Create a view; `addresses` maps node ids to `host:port` of a direct listener."""
        self._wires = {node: Wire(address) for node, address in addresses.items()}
        self._lock = threading.Lock()

    def close(self) -> None:
        for wire in self._wires.values():
            wire.close()

    def __enter__(self) -> ClusterView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def brokers(self) -> list[int]:
        """Return the ids of the brokers in the metadata; empty if no broker answers."""
        return list(self.advertised())

    def advertised(self) -> dict[int, str]:
        """Return node id → advertised `host:port`; empty if no broker answers."""
        found = self._ask([])
        brokers = sorted(found.brokers, key=lambda b: int(b.node_id)) if found else []
        return {b.node_id: f"{b.host}:{b.port}" for b in brokers}

    def partitions(self, topic: str | None = None) -> list[Replicas]:
        """Return every partition, or those of one topic; empty if no broker answers."""
        wanted = MetadataRequest.MetadataRequestTopic
        found = self._ask(None if topic is None else [wanted(name=topic)])
        return _replicas(found) if found else []

    def topic_id(self, topic: str) -> UUID | None:
        """Return the id of a topic; None if there is no such topic, or no broker answers."""
        found = self._ask(
            [
                MetadataRequest.MetadataRequestTopic(
                    version=_WITH_IDS, topic_id=UUID(int=0), name=topic
                )
            ],
            version=_WITH_IDS,
        )
        for each in found.topics if found else []:
            if not each.error_code:
                return UUID(str(each.topic_id))
        return None

    def leader(self, topic: str, partition: int) -> int | None:
        for p in self.partitions(topic):
            if p.partition == partition and p.leader >= 0:
                return p.leader
        return None

    def clients(self) -> list[Replicas] | None:
        """Return the partitions of all topics but internal ones; None if no broker answers."""
        found = self._ask(None)
        if found is None:
            return None
        return [p for p in _replicas(found) if not p.topic.startswith("__")]

    def does_without(self, node: int) -> bool:
        """Return whether a broker neither leads nor is in sync in any but internal topics.

        The last in-sync replica does not count: it stays in the set even if it is unreachable.
        """
        found = self.clients() or []
        return bool(found) and all(
            p.leader != node and (node not in p.in_sync or p.in_sync == {node}) for p in found
        )

    def has_in_sync(self, node: int) -> bool:
        found = self.partitions()
        return bool(found) and all(
            p.leader >= 0 and node in p.in_sync for p in found if node in p.replicas
        )

    def in_sync_everywhere(self) -> bool:
        found = self.partitions()
        return bool(found) and all(p.leader >= 0 and p.in_sync == p.replicas for p in found)

    def out_of_sync(self) -> str:
        """Describe partitions without a leader or with replicas out of sync, for messages."""
        found = self.partitions()
        if not found:
            return "no broker answers"
        lagging = [
            f"{p.topic}-{p.partition}: leader {p.leader}, in sync {sorted(p.in_sync)}"
            for p in found
            if p.leader < 0 or p.in_sync != p.replicas
        ]
        return "; ".join(lagging[:6]) or "all replicas are in sync"

    def coordinator(self, of: Coordinated, name: str) -> int | None:
        request = FindCoordinatorRequest(key=name, key_type=_COORDINATED[of])
        found = self.ask(request, version=2, answer=FindCoordinatorResponse)
        return int(found.node_id) if found and found.error_code == 0 else None

    def controller(self) -> int | None:
        """Return the node id of the active controller, or None.

        The quorum's leader is the controller; the one in the metadata is an arbitrary broker.
        """
        wanted = DescribeQuorumRequest.TopicData
        metadata = wanted.PartitionData(partition_index=0)
        request = DescribeQuorumRequest(
            topics=[wanted(topic_name="__cluster_metadata", partitions=[metadata])]
        )
        found = self.ask(request, version=0, answer=DescribeQuorumResponse)
        leaders = [p.leader_id for t in (found.topics if found else []) for p in t.partitions]
        return int(leaders[0]) if leaders and leaders[0] >= 0 else None

    def ask(self, request: Any, *, version: int, answer: Any) -> Any | None:
        """Return the first broker's answer; None if no broker answers."""
        with self._lock:
            for wire in self._wires.values():
                try:
                    return wire.ask(request, version=version, answer=answer)
                except OSError:
                    continue
        return None

    def _ask(self, topics: list[Any] | None, version: int = _VERSION) -> Any | None:
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        return self.ask(request, version=version, answer=MetadataResponse)


def _replicas(found: Any) -> list[Replicas]:
    return [
        Replicas(
            topic=t.name,
            partition=p.partition_index,
            leader=p.leader_id,
            in_sync=frozenset(p.isr_nodes),
            replicas=frozenset(p.replica_nodes),
        )
        for t in sorted(found.topics, key=lambda t: str(t.name))
        for p in sorted(t.partitions, key=lambda p: int(p.partition_index))
    ]
