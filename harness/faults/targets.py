"""Targets by role, resolved when a fault starts.

Roles move, and faults move them. So a role is looked up when a fault acts,
and what it was then is recorded with the fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from onceproof.harness.faults.led import in_words
from onceproof.harness.kafka.keeping import KEPT_IN, partition_of
from onceproof.harness.kafka.metadata import ClusterView, Coordinated
from onceproof.harness.kafka.placing import place_leader
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.base import StageTrouble
from onceproof.harness.stage.topology import broker_name, node_id
from onceproof.harness.wait import wait_until


class Target(Protocol):
    """A party named by its role."""

    def describe(self) -> str:
        """The role in words."""

    def resolve(self, context: RunContext) -> str:
        """The node that has the role now; raises `Overdue` if none gets it in time."""


@dataclass(frozen=True, kw_only=True)
class LeaderOf:
    """The broker that leads a partition, of the input topic if no other is named."""

    partition: int
    topic: str | None = None

    def describe(self) -> str:
        """The role in words."""
        return f"the broker that leads {self.topic or 'input'} partition {self.partition}"

    def resolve(self, context: RunContext) -> str:
        """The leader as the cluster sees it now."""
        view, topic = context.view(), self.topic or context.topic
        node = wait_until(
            lambda: view.leader(topic, self.partition),
            what=f"{topic}-{self.partition} to have a leader",
            seconds=15,
            stop=context.stop,
            seen=lambda: self._instead(view, topic),
        )
        return broker_name(node)

    def _instead(self, view: ClusterView, topic: str) -> str:
        there = [(p.topic, p.partition) for p in view.clients()]
        if there and (topic, self.partition) not in there:
            return f"no such partition; there are {in_words(there)}"
        return view.out_of_sync()


@dataclass(frozen=True, kw_only=True)
class FollowerOf:
    """A broker that follows a partition: of those in sync the one with the least id."""

    partition: int
    topic: str | None = None

    def describe(self) -> str:
        """The role in words."""
        return f"a follower of {self.topic or 'input'} partition {self.partition}"

    def resolve(self, context: RunContext) -> str:
        """A follower as the cluster sees it now."""
        view, topic = context.view(), self.topic or context.topic

        def follower() -> int | None:
            for p in view.partitions(topic):
                if p.partition == self.partition and p.leader >= 0:
                    return min(p.in_sync - {p.leader}, default=None)
            return None

        node = wait_until(
            follower,
            what=f"{topic}-{self.partition} to have a follower in sync",
            seconds=15,
            stop=context.stop,
            seen=view.out_of_sync,
        )
        return broker_name(node)


@dataclass(frozen=True, kw_only=True)
class CoordinatorOf:
    """The broker that coordinates a consumer group, or the transactions of a transactional id."""

    of: Coordinated
    name: str

    def describe(self) -> str:
        """The role in words."""
        return f"the coordinator of {self._whom()}"

    def resolve(self, context: RunContext) -> str:
        """The coordinator as the cluster names it now."""
        view = context.view()
        node = wait_until(
            lambda: view.coordinator(self.of, self.name),
            what=f"{self._whom()} to have a coordinator",
            seconds=30,
            stop=context.stop,
            every=0.2,
            seen=view.out_of_sync,
        )
        return broker_name(node)

    def kept_in(self, context: RunContext) -> LeaderOf:
        """The partition of Kafka's own whose leader it is; resolve it first: then there is one."""
        topic, view = KEPT_IN[self.of], context.view()
        # Whoever is asked may not know yet of a topic that was made a moment ago.
        partitions = wait_until(
            lambda: view.partitions(topic),
            what=f"a broker to tell the partitions of {topic}",
            seconds=15,
            stop=context.stop,
        )
        return LeaderOf(topic=topic, partition=partition_of(self.name, len(partitions)))

    def _whom(self) -> str:
        return f"{'group' if self.of == 'group' else 'transactional id'} {self.name}"


@dataclass(frozen=True, kw_only=True)
class ActiveController:
    """The broker whose controller is the active one."""

    def describe(self) -> str:
        """The role in words."""
        return "the active controller"

    def resolve(self, context: RunContext) -> str:
        """The leader of the quorum as the cluster sees it now."""
        node = wait_until(
            context.view().controller,
            what="the quorum to have a leader",
            seconds=15,
            stop=context.stop,
        )
        return broker_name(node)


@dataclass(frozen=True, kw_only=True)
class Apart:
    """A leader or a coordinator on another broker than a second role, moved there if it has to be.

    So a fault hits one of the two roles only.
    """

    leader: LeaderOf | CoordinatorOf
    other: Target

    def describe(self) -> str:
        """The roles in words."""
        return f"{self.leader.describe()}, placed apart from {self.other.describe()}"

    def resolve(self, context: RunContext) -> str:
        """The leader, or the coordinator, when the two are apart."""
        here, other = self.leader.resolve(context), self.other.resolve(context)
        return self._moved_from(other, context) if here == other else here

    def _moved_from(self, other: str, context: RunContext) -> str:
        led = (
            self.leader.kept_in(context) if isinstance(self.leader, CoordinatorOf) else self.leader
        )
        view, topic = context.view(), led.topic or context.topic
        found = [p for p in view.partitions(topic) if p.partition == led.partition]
        free = found[0].in_sync - {node_id(other)}
        if not free:
            raise StageTrouble(
                f"{topic}-{led.partition} cannot be placed apart from {other}: no other "
                "replica is in sync"
            )
        place_leader(view, topic, led.partition, min(free), stop=context.stop)
        there = broker_name(min(free))
        wait_until(
            lambda: self.leader.resolve(context) == there,
            what=f"{there} to be {self.leader.describe()}",
            seconds=30,
            stop=context.stop,
        )
        if self.other.resolve(context) == there:
            raise StageTrouble(
                f"{self.describe()}: they cannot be apart, {topic}-{led.partition} keeps both"
            )
        return there


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node by its name: `broker-2`, `postgres`."""

    name: str

    def describe(self) -> str:
        """The name."""
        return self.name

    def resolve(self, context: RunContext) -> str:
        """The name."""
        return self.name
