"""A member of a consumer group paused until the group goes on without it, then let go on: a zombie.

It knows nothing of what it missed. Whatever it was about to write or to
commit it still does, and only fencing stands against that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.led import in_words
from onceproof.harness.faults.members import Belonging, member, members
from onceproof.harness.run_context import RunContext
from onceproof.harness.subjects.group.base import MEMBER


@dataclass(frozen=True, kw_only=True)
class PauseMember:
    """Pause a member, by name, for longer than its session."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = MEMBER
    member: str = "member-0"

    def describe(self) -> str:
        return f"pause {self.member} until the group goes on without it"

    def inject(self, context: RunContext, name: str) -> _Paused:
        """Pause it."""
        return _Paused(context, self.member)


BY_HAND: Final = ByHand(
    name="pause-member",
    takes=("MEMBER",),
    example="pause-member member-0",
    says="pause a member of the group until the group goes on without it",
    make=lambda who: PauseMember(member=member(who)),
)


class _Paused:
    def __init__(self, context: RunContext, who: str) -> None:
        self._group = members(context)
        self._belonging = Belonging(context, self._group.group, self._group.consumer(who))
        self.at = now()
        self._alone_since: int | None = None
        self._process = self._group.pause(who)
        self.target = self._process.instance

    def evidence(self) -> str | None:
        """That it stands still, and others went on with all that it had."""
        left = self._belonging.without()
        if not left or not self._process.frozen():
            return None
        commits = self._group.committed()
        if self._alone_since is None:
            self._alone_since = len(commits)
        new = [(c.topic, c.partition) for c in commits[self._alone_since :]]
        had = self._belonging.had or {(c.topic, c.partition) for c in commits}
        if not had <= set(new):
            return None
        return (
            f"{self.target} stands still; the group has only {', '.join(left)}, who committed "
            f"{len(new)} positions since, also in all that it had: {in_words(sorted(had))}"
        )

    def heal(self) -> None:
        """Let it go on, and see that the group has it again."""
        self._process.thaw()
        self._belonging.wait_back()
