"""Cut the link to PostgreSQL while a consumer's commit is in flight.

A commit that lands does so late: after the consumer has found no rows of it, and rewrites them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.database.held_commit import Fate, held, note_doubt, storing
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.words import Member, Word
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import POSTGRES, Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.stored.audit import Hold
from onceproof.harness.subjects.stored.subject import COMMITS
from onceproof.harness.wait import wait_until

_LINK: Final = Link("pipeline", POSTGRES)
_SECONDS: Final = 60.0


@dataclass(frozen=True, kw_only=True)
class CutAtCommit:
    """Cut the link to the database while a consumer's commit is under way, which then lands, late,
    or is undone.
    """

    example: ClassVar[str] = "cut-at-commit member-0 lands"
    kind: ClassVar[str] = "partition"
    needs = COMMITS
    member: Member = "member-0"
    commit: Annotated[Fate, Word(noun="fate")] = "lands"

    def describe(self) -> str:
        then = "takes effect late" if self.commit == "lands" else "is rolled back"
        return f"cut pipeline from postgres during a commit of {self.member}; the commit {then}"

    def inject(self, context: RunContext, name: str) -> _Cut:
        group = storing(context)
        hold = group.hold_commit(self.member)
        with held(hold, context) as seen:
            closed = _cut(context)
            end = _late(hold, context) if self.commit == "lands" else hold.undo()
        return _Cut(context, name, f"{closed} connections on {_LINK} closed while {seen}; {end}")


def _cut(context: RunContext) -> int:
    """Cut the link until it has no connections; return how many it had."""
    closed = context.stage.connections(_LINK) if _LINK in context.stage.links() else 0
    if not closed:
        raise StageTrouble(f"{context.subject.name} has no database connection on {_LINK}")
    hold = context.stage.disturb(_LINK, CUT)
    try:
        wait_until(
            lambda: not context.stage.connections(_LINK),
            what=f"all connections on {_LINK} to be closed",
            seconds=_SECONDS,
            stop=context.stop,
        )
    finally:
        hold.release()
    return closed


def _late(hold: Hold, context: RunContext) -> str:
    awaited = wait_until(
        hold.awaited,
        what="the consumer to retry its write and to wait for the commit that it gave up",
        seconds=_SECONDS,
        every=0.02,
        stop=context.stop,
    )
    return f"{awaited} before {hold.let_go()}"


class _Cut:
    target = str(_LINK)

    def __init__(self, context: RunContext, name: str, seen: str) -> None:
        self._context = context
        self._name = name
        self._seen = seen
        self.at = now()

    def evidence(self) -> str | None:
        return self._seen

    def heal(self) -> None:
        wait_mended(self._context, [_LINK])

    def after_collect(self, known: Collected) -> None:
        """Record the hazard of a commit with an unknown outcome."""
        note_doubt(self._context, self._name, self.at, self._seen)
