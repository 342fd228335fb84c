"""Targets by role, resolved when a fault starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from harness.bench import Bench
from harness.faults.led import in_words
from harness.kafka.metadata import ClusterView
from harness.stage.topology import broker_name
from harness.wait import wait_until


class Target(Protocol):
    """A party named by its role."""

    def describe(self) -> str:
        """The role in words."""

    def resolve(self, bench: Bench) -> str:
        """The node that has the role now; raises `Overdue` if none gets it in time."""


@dataclass(frozen=True, kw_only=True)
class LeaderOf:
    """The broker that leads a partition, of the input topic if no other is named."""

    partition: int
    topic: str | None = None

    def describe(self) -> str:
        """The role in words."""
        return f"the broker that leads {self.topic or 'input'} partition {self.partition}"

    def resolve(self, bench: Bench) -> str:
        """The leader as the cluster sees it now."""
        view, topic = bench.view(), self.topic or bench.topic
        node = wait_until(
            lambda: view.leader(topic, self.partition),
            what=f"{topic}-{self.partition} to have a leader",
            seconds=15,
            stop=bench.stop,
            seen=lambda: self._instead(view, topic),
        )
        return broker_name(node)

    def _instead(self, view: ClusterView, topic: str) -> str:
        there = [(p.topic, p.partition) for p in view.clients()]
        if there and (topic, self.partition) not in there:
            return f"no such partition; there are {in_words(there)}"
        return view.out_of_sync()


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node by its name: `broker-2`, `postgres`."""

    name: str

    def describe(self) -> str:
        """The name."""
        return self.name

    def resolve(self, bench: Bench) -> str:
        """The name."""
        return self.name
