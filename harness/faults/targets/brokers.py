"""Brokers by role, resolved when the fault acts, because roles move and faults move them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.cluster.leadership import in_words
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.targets.ahead import KilledAhead
from onceproof.harness.faults.targets.all_brokers import EndedBrokers, PausedBrokers, ask_to_end
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.faults.targets.broker_ended import KilledBroker, StoppedBroker
from onceproof.harness.faults.targets.broker_paused import PausedBroker
from onceproof.harness.faults.targets.program_start import METADATA, KilledAtStart
from onceproof.harness.kafka.keeping import KEPT_IN, partition_of
from onceproof.harness.kafka.metadata import ClusterView, Coordinated
from onceproof.harness.kafka.placing import place_leader
from onceproof.harness.links.topology import broker_name, node_id
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.user_pipeline.program import PROGRAM
from onceproof.harness.wait import wait_until

AHEAD: Final = "ahead-of-followers"
PROGRAM_START: Final = "program-start"


class Target(Victim):
    """A node given by its role; a broker can be killed, stopped and paused."""

    example: ClassVar[str] = "broker-2"
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {
        "kill": {PROGRAM_START: "when the restarted pipeline requests metadata"}
    }

    def resolve(self, context: RunContext) -> str:
        """Return the node that has the role now; raise `Overdue` if there is none in time."""
        raise NotImplementedError

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return PROGRAM if at == PROGRAM_START else verb

    def message(self, at: str | None) -> Message | None:
        return METADATA if at == PROGRAM_START else None

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        if at == PROGRAM_START:
            return KilledAtStart(context, self.resolve, name)
        return KilledBroker(context, self.resolve(context), name)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        return StoppedBroker(context, self.resolve(context), name)

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        return PausedBroker(context, self.resolve(context))


@dataclass(frozen=True, kw_only=True)
class LeaderOf(Target):
    """The leader of a partition, by default of the input topic."""

    example: ClassVar[str] = "leader:payments-0"
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {
        "kill": {AHEAD: "when its log has records that no follower has", **Target.windows["kill"]}
    }
    partition: int
    topic: str | None = None

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        if at == AHEAD:
            node = self.resolve(context)
            return KilledAhead(context, node, (self.topic or context.topic, self.partition), name)
        return super().kill(context, name, at)

    def describe(self) -> str:
        return f"the broker that leads {self.topic or 'input'} partition {self.partition}"

    def resolve(self, context: RunContext) -> str:
        view, topic = context.view(), self.topic or context.topic
        node = wait_until(
            lambda: view.leader(topic, self.partition),
            what=f"{topic}-{self.partition} to have a leader",
            seconds=15,
            stop=context.stop,
            seen=lambda: self._describe_leaderless(view, topic),
        )
        return broker_name(node)

    def _describe_leaderless(self, view: ClusterView, topic: str) -> str:
        known = [(p.topic, p.partition) for p in view.clients() or ()]
        if known and (topic, self.partition) not in known:
            return f"no such partition; there are {in_words(known)}"
        return view.out_of_sync()


@dataclass(frozen=True, kw_only=True)
class FollowerOf(Target):
    """The in-sync follower of a partition with the lowest id."""

    partition: int
    topic: str | None = None

    def describe(self) -> str:
        return f"a follower of {self.topic or 'input'} partition {self.partition}"

    def resolve(self, context: RunContext) -> str:
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
class CoordinatorOf(Target):
    """The coordinator of a consumer group or of a transactional id."""

    of: Coordinated
    name: str

    def describe(self) -> str:
        return f"the coordinator of {self._coordinated()}"

    def resolve(self, context: RunContext) -> str:
        view = context.view()
        node = wait_until(
            lambda: view.coordinator(self.of, self.name),
            what=f"{self._coordinated()} to have a coordinator",
            seconds=30,
            stop=context.stop,
            every=0.2,
            seen=view.out_of_sync,
        )
        return broker_name(node)

    def kept_in(self, context: RunContext) -> LeaderOf:
        """Return the internal partition whose leader it is; `resolve` first, so that it exists."""
        topic = KEPT_IN[self.of]
        count = len(context.partitions(topic))
        return LeaderOf(topic=topic, partition=partition_of(self.name, count))

    def _coordinated(self) -> str:
        return f"{'group' if self.of == 'group' else 'transactional id'} {self.name}"


@dataclass(frozen=True, kw_only=True)
class ActiveController(Target):
    """The active controller."""

    def describe(self) -> str:
        return "the active controller"

    def resolve(self, context: RunContext) -> str:
        node = wait_until(
            context.view().controller,
            what="the quorum to have a leader",
            seconds=15,
            stop=context.stop,
        )
        return broker_name(node)


@dataclass(frozen=True, kw_only=True)
class Apart(Target):
    """A leader or coordinator moved, if necessary, to another broker than `other`.

    This way a fault hits only one of the two roles.
    """

    leader: LeaderOf | CoordinatorOf
    other: Target

    def describe(self) -> str:
        return f"{self.leader.describe()}, placed apart from {self.other.describe()}"

    def resolve(self, context: RunContext) -> str:
        here, other = self.leader.resolve(context), self.other.resolve(context)
        return self._move_from(other, context) if here == other else here

    def _move_from(self, other: str, context: RunContext) -> str:
        led = (
            self.leader.kept_in(context) if isinstance(self.leader, CoordinatorOf) else self.leader
        )
        view, topic = context.view(), led.topic or context.topic
        found = [p for p in context.partitions(topic) if p.partition == led.partition]
        free = found[0].in_sync - {node_id(other)}
        if not free:
            raise StageTrouble(
                f"{topic}-{led.partition} cannot be placed apart from {other}: no other "
                "replica is in sync"
            )
        place_leader(view, topic, led.partition, min(free), stop=context.stop)
        moved_to = broker_name(min(free))
        wait_until(
            lambda: self.leader.resolve(context) == moved_to,
            what=f"{moved_to} to be {self.leader.describe()}",
            seconds=30,
            stop=context.stop,
        )
        if self.other.resolve(context) == moved_to:
            raise StageTrouble(
                f"{self.describe()}: impossible, because {topic}-{led.partition} determines both"
            )
        return moved_to


@dataclass(frozen=True, kw_only=True)
class Node(Target):
    """A node by name: `broker-2`, `postgres`."""

    name: str

    def describe(self) -> str:
        return self.name

    def resolve(self, context: RunContext) -> str:
        return self.name


@dataclass(frozen=True, kw_only=True)
class AllBrokers(Victim):
    """All brokers at once."""

    written: ClassVar[str] = "brokers"
    example: ClassVar[str] = "brokers"

    def describe(self) -> str:
        return "all brokers"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return verb

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        how = f"SIGKILL by fault «{name}»"
        return EndedBrokers(context, lambda node: context.stage.kill(node, how), paused_too=True)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        how = f"SIGTERM by fault «{name}»"
        return EndedBrokers(context, lambda node: ask_to_end(context.stage, node, how))

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        return PausedBrokers(context)
