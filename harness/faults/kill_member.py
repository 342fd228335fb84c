"""SIGKILL of a member of a consumer group; it is started again when healed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.members import Belonging, member, members
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.processes import Process
from onceproof.harness.subjects.group.base import MEMBER
from onceproof.harness.subjects.group.members import Members


@dataclass(frozen=True, kw_only=True)
class KillMember:
    """SIGKILL a member, by name."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = MEMBER
    member: str = "member-0"

    def describe(self) -> str:
        return f"SIGKILL {self.member}"

    def inject(self, context: RunContext, name: str) -> EndedMember:
        """Kill it."""
        group = members(context)
        end = partial(group.kill, self.member, f"SIGKILL by fault «{name}»")
        return EndedMember(context, group, self.member, end)


BY_HAND: Final = ByHand(
    name="kill-member",
    takes=("MEMBER",),
    example="kill-member member-0",
    says="SIGKILL a member of the group; it is started again when healed",
    make=lambda who: KillMember(member=member(who)),
)


class EndedMember:
    """A member that was made to end."""

    def __init__(
        self, context: RunContext, group: Members, who: str, end: Callable[[], Process]
    ) -> None:
        """`end` ends it and returns the life that is over."""
        self._group = group
        self._who = who
        self._belonging = Belonging(context, group.group, group.consumer(who))
        self.at = now()
        self._process = end()
        self.target = self._process.instance

    def evidence(self) -> str | None:
        """Its end."""
        return f"{self.target} {self._process.ended}"

    def heal(self) -> None:
        """Start it again, and see that the group has it."""
        self._group.restart(self._who)
        self._belonging.wait_back()
