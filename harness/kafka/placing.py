"""Move a partition's leadership to a broker with a replica: reorder replicas, then elect."""

from __future__ import annotations

from typing import Final

from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
)

from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.wait import Stop, wait_until

_MILLISECONDS: Final = 10_000
_PREFERRED: Final = 0


def place_leader(view: ClusterView, topic: str, partition: int, node: int, *, stop: Stop) -> None:
    """Make a broker with a replica of the partition its leader.

    Raises:
        Overdue: the broker is not the leader in time.
    """
    (found,) = [p for p in view.partitions(topic) if p.partition == partition]
    order = [node, *sorted(found.replicas - {node})]
    placed = AlterPartitionReassignmentsRequest.ReassignableTopic
    elected = ElectLeadersRequest.TopicPartitions
    ours = placed.ReassignablePartition(partition_index=partition, replicas=order)
    reassign = AlterPartitionReassignmentsRequest(
        timeout_ms=_MILLISECONDS, topics=[placed(name=topic, partitions=[ours])]
    )
    elect = ElectLeadersRequest(
        election_type=_PREFERRED,
        topic_partitions=[elected(topic=topic, partitions=[partition])],
        timeout_ms=_MILLISECONDS,
    )

    def leads() -> bool:
        # Repeated: until the reassignment is applied, an election uses the old order.
        view.ask(elect, version=1, answer=ElectLeadersResponse)
        return view.leader(topic, partition) == node

    view.ask(reassign, version=0, answer=AlterPartitionReassignmentsResponse)
    wait_until(
        leads,
        what=f"broker {node} to lead {topic}-{partition}",
        seconds=20,
        every=0.2,
        stop=stop,
        seen=lambda: view.partitions(topic),
    )
