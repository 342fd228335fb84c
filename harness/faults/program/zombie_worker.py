"""Pause a worker with unprocessed records until it has lost its partitions, and resume it.

Its transactional offset commit, or its write to the database, is held until the others have
processed all inputs. Then the commit must be refused, and the write must not count twice. Had the
offsets arrived, the others would wait for its transaction, and nothing could be duplicated.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.group_members import GroupMembers
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.program.held_work import HeldOffsets, HeldWork, HeldWrite
from onceproof.harness.faults.program.programs import at_work, wait_works
from onceproof.harness.faults.program.several import described, thaw, wait_several
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.user_pipeline.program import AWAY, PROGRAM
from onceproof.harness.wait import Overdue

Held = Literal["offsets", "write"]
_TRIES: Final = 4
"""A held worker may be the only one with input, and then no other continues."""


@dataclass(frozen=True, kw_only=True)
class ZombieWorker:
    """Pause one of several workers with unprocessed records, until others have done its work.

    Attributes:
        at: hold its transactional commit of `offsets`, or its `write` to the stage's database.
        still_open: its transaction must still be open then. A transaction timeout shorter than the
            session timeout always ends it earlier.
    """

    kind: ClassVar[str] = "timeout"
    needs = PROGRAM
    group: str
    at: Held = "offsets"
    still_open: bool = False

    def describe(self) -> str:
        before = "its offset commit arrives" if self.at == "offsets" else "a database write"
        return (
            f"pause one process of the pipeline before {before}, until it times out of group "
            f"{self.group} and others have processed its inputs"
        )

    @property
    def message(self) -> Message | None:
        """The held offset commit, which needs a gate."""
        if self.at == "write":
            return None
        return Message(
            source="pipeline", direction="request", api="TxnOffsetCommit", group=self.group
        )

    def hold(self, context: RunContext) -> HeldWork:
        offsets = self.message
        return HeldWrite(context) if offsets is None else HeldOffsets(context, offsets)

    def inject(self, context: RunContext, name: str) -> _Zombie:
        return _Zombie(context, self)


class _Zombie:
    def __init__(self, context: RunContext, fault: ZombieWorker) -> None:
        self._context, self._fault = context, fault
        self._group = GroupMembers(context, fault.group)
        wait_several(context, self._group)
        at_work(context)
        self._members = len(self._group.wait_stable())
        self._held, self._pid = self._pause_owner()
        self.at = now()
        self._ends = context.input_ends()
        self.target = described(context, self._pid)
        self._proof: str | None = None

    def _pause_owner(self) -> tuple[HeldWork, int]:
        """Return what is held and its owner's process id, which is paused.

        Raises:
            StageTrouble: the owner cannot be determined, or there was nothing to hold.
        """
        why = ""
        for _ in range(_TRIES):
            with ExitStack() as held_still:
                held = self._fault.hold(self._context)
                held_still.callback(held.release)
                try:
                    pid = held.pause_owner()
                except Overdue as error:
                    why = str(error)
                    continue
                held_still.pop_all()
                return held, pid
        raise StageTrouble(f"{why}, in each of {_TRIES} attempts")

    def evidence(self) -> str | None:
        """Return proof that others have processed everything that it may have had in hand.

        Raises:
            NoEffect: the held work had ended by then.
        """
        if self._proof is not None:
            return self._proof
        left = len(self._group.ids())
        try:
            others = self._held.overtaken(self._ends) if 0 < left < self._members else None
        except AWAY:
            return None
        if others is not None:
            seconds = (now() - self.at) / 1e9
            if self._fault.still_open and (ended := self._held.ended()):
                raise NoEffect(f"{self.target} was paused for {seconds:.1f} s; {ended}")
            self._proof = (
                f"{self.target} was paused for {seconds:.1f} s, with {self._held.what}; group "
                f"{self._fault.group} went from {self._members} members to {left}, which {others}"
            )
        return self._proof

    def heal(self) -> None:
        thaw(self._pid)
        self._held.release()
        wait_works(self._context)
