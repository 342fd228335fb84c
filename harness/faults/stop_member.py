"""SIGTERM to a member of a consumer group, as a deployment ends it; started again when healed.

Who is asked to end can leave its group and finish what is under way. Whether
it does is the member's own affair, and many do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.kill_member import EndedMember
from onceproof.harness.faults.members import member, members
from onceproof.harness.run_context import RunContext
from onceproof.harness.subjects.group.base import MEMBER


@dataclass(frozen=True, kw_only=True)
class StopMember:
    """SIGTERM to a member, by name."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = MEMBER
    member: str = "member-0"

    def describe(self) -> str:
        return f"SIGTERM to {self.member}"

    def inject(self, context: RunContext, name: str) -> EndedMember:
        """Ask it to end."""
        group = members(context)
        end = partial(group.stop, self.member, f"SIGTERM by fault «{name}»")
        return EndedMember(context, group, self.member, end)


BY_HAND: Final = ByHand(
    name="stop-member",
    takes=("MEMBER",),
    example="stop-member member-0",
    says="ask a member of the group to end (SIGTERM); it is started again when healed",
    make=lambda who: StopMember(member=member(who)),
)
