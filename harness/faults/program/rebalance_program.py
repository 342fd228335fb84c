"""Rebalance the pipeline's consumer group without a failure: a member joins, then leaves.

If its reads and commits are observed, this is repeated until it had uncommitted inputs in hand. Its
writes are held while the other member leaves: a client that rebalances in the background makes its
program read again what is being written.
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
"""Maximum number of attempts, until the pipeline has inputs in hand."""
_JOIN_SECONDS: Final = 60.0
_HELD_SECONDS: Final = 5.0
"""Clients learn of a rebalance by heartbeats, every three seconds by default."""
_LOOK_SECONDS: Final = 1.5
"""Time in which a program looks up its offsets once it has been assigned partitions."""


@dataclass(frozen=True, kw_only=True)
class RebalanceProgram:
    """Make a member of our own join the pipeline's group, take partitions, and leave.

    Attributes:
        phase: how long after a write to join; see `at_work`.
        topic: writes to this topic are held while the other member leaves.
        tables: commits to these tables are held instead.
        in_hand: the pipeline must have read inputs that it has not committed; see `Uncommitted`.
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
        """The message that is held or observed, which needs a gate."""
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
    """Number of uncommitted offsets; None if not asked for."""

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
        """Give the partitions back while writes are held; return what was held, or ""."""
        fault = self._fault
        if fault.protocol != "classic" or not (fault.tables or fault.topic):
            return ""
        try:
            with writes_held(self._context, produce=fault._held, tables=fault.tables) as held:
                self._other.leave()
                with group_of(self._context, fault.group) as group:
                    self._wait(lambda: _settled(group.describe()))
                # It is not visible when the program has looked up its offsets.
                with suppress(Overdue):
                    self._wait(lambda: False, seconds=_LOOK_SECONDS)
        except Overdue:  # it writes nothing now, or does not rebalance while it is busy
            return ""
        return f"; the pipeline had all of them back while {held}"

    def seen_through(self, seen: Uncommitted) -> int:
        """Wait until the group has rebalanced; return how much was in hand."""
        with group_of(self._context, self._fault.group) as group:
            return most_by_the_end(
                seen.most, lambda: _settled(group.describe()), self._context.stop
            )

    def _wait(self, look: Callable[[], bool], seconds: float = _HELD_SECONDS) -> None:
        wait_until(look, what="", seconds=seconds, every=0.05, stop=self._context.stop)

    def evidence(self) -> str | None:
        """Return which partitions were taken, and how much the pipeline had in hand.

        Raises:
            NoEffect: it had nothing in hand.
        """
        if self.in_hand is None:
            return self._proof
        if not self.in_hand:
            raise NoEffect(f"{self._proof}; the pipeline had no uncommitted reads")
        return (
            f"{self._proof}; the pipeline had read {self.in_hand} offsets that it had not committed"
        )

    def heal(self) -> None:
        wait_works(self._context)


def _settled(group: GroupState) -> bool:
    """Whether the pipeline's own members share the partitions again."""
    return group.state == "Stable" and CLIENT not in group.members and bool(group.members)
