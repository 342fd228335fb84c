"""What faults of consumers that write into a database have in common: a commit that stands still.

A crash that hits while a commit is under way is not waited for; the commit
is made to stand still, by the database's own means, until the fault has acted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.stored.audit import Hold
from onceproof.harness.subjects.stored.hazards import IN_DOUBT
from onceproof.harness.subjects.stored.members import StoringMembers
from onceproof.harness.wait import wait_until

Fate = Literal["lands", "undone"]
"""What becomes of a commit whose sender cannot hear of it any more."""
_SECONDS: Final = 60.0


def storing(context: RunContext) -> StoringMembers:
    """The pipeline as what it must be for a fault that needs `commits`.

    Raises:
        StageTrouble: what is on trial writes into no database of which we can hold a commit.
    """
    if not isinstance(context.pipeline, StoringMembers):
        raise StageTrouble(f"{context.subject.name} has no commits that can be made to stand still")
    return context.pipeline


@contextmanager
def held(hold: Hold, context: RunContext) -> Iterator[str]:
    """Wait until a hold has caught its commit; gives what shows it. Whatever happens, it ends.

    Raises:
        Overdue: none came in time.
    """
    try:
        yield wait_until(
            hold.caught,
            what="a commit to stand still",
            seconds=_SECONDS,
            every=0.02,
            stop=context.stop,
        )
    finally:
        hold.close()


def note_doubt(context: RunContext, name: str, at: int, detail: str) -> None:
    """Record that nobody told a consumer what became of its commit."""
    context.recorder.hazard(IN_DOUBT, hop="process", at=at, fault=name, detail=detail)
