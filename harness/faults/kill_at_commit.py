"""SIGKILL of a consumer while its commit into a database is under way.

Its next life cannot remember that it had sent a commit, let alone what came
of it. Of both ends that this can have, only what is stored tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.at_commit import Fate, fate, held, note_doubt, storing
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.kill_member import KillMember
from onceproof.harness.faults.members import member
from onceproof.harness.run_context import Collected, RunContext
from onceproof.harness.subjects.stored.subject import COMMITS


@dataclass(frozen=True, kw_only=True)
class KillAtCommit:
    """SIGKILL a member, by name, amid a commit.

    Attributes:
        member: whom.
        commit: what becomes of the commit.
    """

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = COMMITS
    member: str = "member-0"
    commit: Fate = "undone"

    def describe(self) -> str:
        then = "still lands" if self.commit == "lands" else "is undone"
        return f"SIGKILL {self.member} while its commit into the database is under way; it {then}"

    def inject(self, context: RunContext, name: str) -> _Killed:
        """Wait for a commit, and kill it then."""
        hold = storing(context).hold_commit(self.member)
        with held(hold, context) as seen:
            killed = KillMember(member=self.member).inject(context, name)
            try:
                came = hold.let_go() if self.commit == "lands" else hold.undo()
            except BaseException:
                killed.heal()
                raise
        return _Killed(context, name, killed, f"{seen}, and after that {came}")


BY_HAND: Final = ByHand(
    name="kill-at-commit",
    takes=("MEMBER", "lands|undone"),
    example="kill-at-commit member-0 undone",
    says="SIGKILL a consumer while its commit into a database is under way, which then lands or is "
    "undone",
    make=lambda who, what: KillAtCommit(member=member(who), commit=fate(what)),
)


class _Killed:
    def __init__(self, context: RunContext, name: str, killed: Injection, seen: str) -> None:
        self._context = context
        self._name = name
        self._killed = killed
        self._seen = seen
        self.at = now()
        self.target = killed.target

    def evidence(self) -> str | None:
        """Its end, what it was at, and what became of that."""
        return f"{self._killed.evidence()}: {self._seen}"

    def heal(self) -> None:
        """Start it again, and see that the group has it."""
        self._killed.heal()

    def after_collect(self, known: Collected) -> None:
        """A commit whose end nobody heard."""
        note_doubt(self._context, self._name, self.at, self._seen)
