"""What chosen brokers say of the cluster: brokers, leaders, in-sync replicas, coordinators.

An isolated broker goes on answering with itself as leader. A view asks only
the brokers that it was made with, in order, and takes the first answer; to know what *every* broker
believes, make a view of each.
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
"""What has a coordinator."""
_COORDINATED: Final = {"group": CoordinatorType.GROUP, "transaction": CoordinatorType.TRANSACTION}


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """One partition as the answering broker sees it; `leader` is -1 where there is none."""

    topic: str
    partition: int
    leader: int
    in_sync: frozenset[int]
    replicas: frozenset[int]


class ClusterView:
    """The cluster's metadata as some brokers tell it. Thread-safe."""

    def __init__(self, addresses: Mapping[int, str]) -> None:
        """`addresses` maps node ids to `host:port` of a direct listener."""
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
        """Ids of the brokers in the metadata; empty while nobody answers."""
        return list(self.advertised())

    def advertised(self) -> dict[int, str]:
        """`host:port` that each broker in the metadata gives, by id; empty while nobody answers."""
        found = self._ask([])
        brokers = sorted(found.brokers, key=lambda b: int(b.node_id)) if found else []
        return {b.node_id: f"{b.host}:{b.port}" for b in brokers}

    def partitions(self, topic: str | None = None) -> list[Replicas]:
        """Every partition, or those of one topic; empty while nobody answers."""
        wanted = MetadataRequest.MetadataRequestTopic
        found = self._ask(None if topic is None else [wanted(name=topic)])
        return _replicas(found) if found else []

    def topic_id(self, topic: str) -> UUID | None:
        """The id of a topic; None if there is no such topic, or nobody answers."""
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
        """Node id of a partition's leader, or None while there is none."""
        for p in self.partitions(topic):
            if p.partition == partition and p.leader >= 0:
                return p.leader
        return None

    def clients(self) -> list[Replicas] | None:
        """Every partition that clients made, not Kafka's own; None while nobody answers."""
        found = self._ask(None)
        if found is None:
            return None
        return [p for p in _replicas(found) if not p.topic.startswith("__")]

    def does_without(self, node: int) -> bool:
        """Whether a broker leads nothing of what clients made, and is in no in-sync set of it.

        The last member of such a set stays in it, also when nobody reaches it any more.
        """
        found = self.clients() or []
        return bool(found) and all(
            p.leader != node and (node not in p.in_sync or p.in_sync == {node}) for p in found
        )

    def has_in_sync(self, node: int) -> bool:
        """Whether a broker is in sync wherever it has a replica, and a leader is there."""
        found = self.partitions()
        return bool(found) and all(
            p.leader >= 0 and node in p.in_sync for p in found if node in p.replicas
        )

    def in_sync_everywhere(self) -> bool:
        """Whether every partition has a leader and all its replicas in sync."""
        found = self.partitions()
        return bool(found) and all(p.leader >= 0 and p.in_sync == p.replicas for p in found)

    def out_of_sync(self) -> str:
        """Partitions that lack replicas, for messages."""
        found = self.partitions()
        if not found:
            return "no broker answers"
        short = [
            f"{p.topic}-{p.partition}: leader {p.leader}, in sync {sorted(p.in_sync)}"
            for p in found
            if p.leader < 0 or p.in_sync != p.replicas
        ]
        return "; ".join(short[:6]) or "nothing is out of sync"

    def coordinator(self, of: Coordinated, name: str) -> int | None:
        """Node id of the coordinator of a group or a transactional id; None while there is none."""
        request = FindCoordinatorRequest(key=name, key_type=_COORDINATED[of])
        found = self.ask(request, version=2, answer=FindCoordinatorResponse)
        return int(found.node_id) if found and found.error_code == 0 else None

    def controller(self) -> int | None:
        """Node id of the active controller; None while there is none.

        Metadata names any broker as controller; only the quorum's leader is the one.
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
        """The first answer that one of the brokers gives; None while nobody answers."""
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
