"""Hold a consumer's commit to a database in flight, by the database's own means."""

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
"""Outcome of a commit that its sender can no longer learn."""
_SECONDS: Final = 60.0


def storing(context: RunContext) -> StoringMembers:
    """Return the pipeline as `StoringMembers`; raise `StageTrouble` if it is none."""
    if not isinstance(context.pipeline, StoringMembers):
        raise StageTrouble(f"{context.subject.name} has no commits that a fault can hold")
    return context.pipeline


@contextmanager
def held(hold: Hold, context: RunContext) -> Iterator[str]:
    """Wait for a held commit and yield its description, or raise `Overdue`; then release it."""
    try:
        yield wait_until(
            hold.caught,
            what="a commit to be held",
            seconds=_SECONDS,
            every=0.02,
            stop=context.stop,
        )
    finally:
        hold.close()


def note_doubt(context: RunContext, name: str, at: int, detail: str) -> None:
    """Record the hazard that a consumer did not learn the outcome of its commit."""
    context.recorder.hazard(IN_DOUBT, hop="process", at=at, fault=name, detail=detail)
