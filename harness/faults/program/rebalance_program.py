"""A rebalance of the pipeline's consumer group without any failure: a member joins, then leaves.

Where it is seen what the pipeline reads and commits, this is done again until it had inputs in hand
that it did not commit on the way.

What the pipeline writes is held while the other member leaves: a client that takes part in the
rebalance behind the back of its program has it read again what is being written.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.cluster.coordinated import group_of
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.program.held_work import writes_held
from onceproof.harness.faults.program.other_member import CLIENT, OtherMember
from onceproof.harness.faults.program.programs import at_work, wait_works
from onceproof.harness.faults.program.uncommitted import Uncommitted, heard, most_by_the_end
from onceproof.harness.kafka.groups import GroupState
from onceproof.harness.user_pipeline.program import PROGRAM
from onceproof.harness.wait import Overdue, wait_until

_TIMES: Final = 3
"""How often it is done, until the pipeline has something in hand."""
_JOIN_SECONDS: Final = 60.0
_HELD_SECONDS: Final = 5.0
"""Clients hear of a rebalance by their heartbeats, which come every three seconds by default."""
_LOOK_SECONDS: Final = 1.5
"""In which a program looks where to go on, when it has been given partitions."""


@dataclass(frozen=True, kw_only=True)
class RebalanceProgram:
    """Let a member of our own join the pipeline's group, take partitions, and leave.

    Attributes:
        assignors: that its members offer.
        phase: how long after a write it joins; see `at_work`.
        topic: what the pipeline produces there is held while the other member leaves.
        tables: what it commits to these is held, and no topic.
        in_hand: it must have read inputs that it has not committed; see `Uncommitted`.
    """

    kind: ClassVar[str] = "timeout"
    needs = PROGRAM
    group: str
    assignors: tuple[str, ...] = ()
    protocol: str = "classic"
    phase: float = 0.0
    topic: str | None = None
    tables: tuple[str, ...] = ()
    in_hand: bool = False

    @property
    def message(self) -> Message | None:
        """What is held or heard, so that there is a gate on its way."""
        return self._held or (heard(self.group) if self.in_hand else None)

    @property
    def _held(self) -> Message | None:
        if self.topic is None or self.tables:
            return None
        return Message(source="pipeline", direction="request", api="Produce", topic=self.topic)

    def describe(self) -> str:
        return f"rebalance group {self.group}: another member joins, takes partitions and leaves"

    def inject(self, context: RunContext, name: str) -> _Rebalanced:
        if not self.in_hand:
            at_work(context, self.phase)
            return _Rebalanced(context, self)
        for _ in range(_TIMES):
            at_work(context, self.phase)
            seen = Uncommitted(context, self.group)
            try:
                rebalanced = _Rebalanced(context, self)
                rebalanced.in_hand = rebalanced.seen_through(seen)
            finally:
                seen.remove()
            if rebalanced.in_hand:
                break
        return rebalanced


class _Rebalanced:
    in_hand: int | None = None
    """How much was in hand; None: nobody asks."""

    def __init__(self, context: RunContext, fault: RebalanceProgram) -> None:
        self._context, self._fault = context, fault
        self.target = f"group {fault.group}"
        self.at = now()
        self._other = OtherMember(context, fault.group, fault.assignors, fault.protocol)
        try:
            taken = wait_until(
                lambda: self._other.partitions,
                what=f"another member of {self.target} to be assigned partitions",
                seconds=_JOIN_SECONDS,
                every=0.1,
                stop=context.stop,
            )
            held = self._leave_while_it_writes()
        finally:
            self._other.leave()
        named = ", ".join(f"{topic}-{partition}" for topic, partition in sorted(taken))
        self._proof = f"another member joined {self.target} and was assigned {named}{held}"

    def _leave_while_it_writes(self) -> str:
        """Give the partitions back while what it writes is held; says whether that came about."""
        fault = self._fault
        if fault.protocol != "classic" or not (fault.tables or fault.topic):
            return ""
        try:
            with writes_held(self._context, produce=fault._held, tables=fault.tables) as held:
                self._other.leave()
                with group_of(self._context, fault.group) as group:
                    self._wait(lambda: _settled(group.describe()))
                # Nobody sees when its program has looked where to go on.
                with suppress(Overdue):
                    self._wait(lambda: False, seconds=_LOOK_SECONDS)
        except Overdue:  # it writes nothing now, or takes part in no rebalance while it is busy
            return ""
        return f"; it had all of them again while {held}"

    def seen_through(self, seen: Uncommitted) -> int:
        """How much was in hand; waits until its members have shared out anew."""
        with group_of(self._context, self._fault.group) as group:
            return most_by_the_end(
                seen.most, lambda: _settled(group.describe()), self._context.stop
            )

    def _wait(self, look: Callable[[], bool], seconds: float = _HELD_SECONDS) -> None:
        wait_until(look, what="", seconds=seconds, every=0.05, stop=self._context.stop)

    def evidence(self) -> str | None:
        """Which partitions were taken, and how much the pipeline had in hand.

        Raises:
            NoEffect: it had nothing in hand.
        """
        if self.in_hand is None:
            return self._proof
        if not self.in_hand:
            raise NoEffect(f"{self._proof}; it had read nothing that it had not committed")
        return f"{self._proof}; it had read {self.in_hand} offsets that it had not committed"

    def heal(self) -> None:
        wait_works(self._context)


def _settled(group: GroupState) -> bool:
    """Whether its own members have shared the partitions out anew."""
    return group.state == "Stable" and CLIENT not in group.members and bool(group.members)
