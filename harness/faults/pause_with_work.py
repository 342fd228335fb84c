"""A consumer paused at its database, with payments in hand, until others have all that it had.

When it goes on it writes what it has in hand, as if nothing had happened.
Where it is paused it has no lock that others would have to wait for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.at_commit import held, storing
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.members import Belonging, member
from onceproof.harness.faults.pause_member import PauseMember
from onceproof.harness.run_context import RunContext
from onceproof.harness.subjects.stored.audit import Hold
from onceproof.harness.subjects.stored.subject import COMMITS
from onceproof.harness.wait import wait_until

_MORE: Final = 600
"""So many payments come while it stands still, that what it reads next makes many transactions."""
_LEFT: Final = 120
"""So many it has in hand at least: more than what stands still, which is 50 at most."""
_SECONDS: Final = 60.0


@dataclass(frozen=True, kw_only=True)
class PauseWithWork:
    """Pause a member, by name, with payments in hand, for longer than its session."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = COMMITS
    member: str = "member-0"

    def describe(self) -> str:
        return (
            f"pause {self.member} at its database with payments in hand until the group goes on "
            "without it"
        )

    def inject(self, context: RunContext, name: str) -> Injection:
        """Have it stand at its database while payments come, and pause it."""
        group = storing(context)
        belonging = Belonging(context, group.group, group.consumer(self.member))
        belonging.wait_at_work(group.committed)
        hold = group.hold_with_work(self.member)
        with held(hold, context):
            wanted = min(context.producers.acknowledged + _MORE, context.producers.total)
            wait_until(
                lambda: context.producers.acknowledged >= wanted,
                what=f"{_MORE} more records to be acknowledged",
                seconds=_SECONDS,
                stop=context.stop,
            )
            self._next(hold, context)
            # All that it has read may be in the one transaction that stands still.
            while hold.begun and group.in_hand(self.member) < _LEFT:
                self._next(hold, context)
            process = group.pause(self.member)
            while hold.hinders():  # others could never go on
                process.thaw()
                process = group.pause(self.member)
            paused = PauseMember(member=self.member).inject(context, name)
            try:
                hold.let_go()
            except BaseException:
                process.thaw()
                raise
        return paused

    def _next(self, hold: Hold, context: RunContext) -> None:
        hold.next()
        wait_until(
            hold.caught,
            what=f"{self.member} to write what comes next",
            seconds=_SECONDS,
            every=0.01,
            stop=context.stop,
        )


BY_HAND: Final = ByHand(
    name="pause-with-work",
    takes=("MEMBER",),
    example="pause-with-work member-0",
    says="pause a consumer at its database, with payments in hand, until others have all that it "
    "had",
    make=lambda who: PauseWithWork(member=member(who)),
)
