"""What faults of forwarders have in common: which one, at which moment, and how both are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.by_hand import ByHand, UnknownFault, numbered
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.base import StageTrouble
from onceproof.harness.subjects.queue.forwarders import Forwarders
from onceproof.harness.subjects.queue.moments import BEFORE_COMMIT, MOMENTS
from onceproof.harness.subjects.queue.subject import FORWARDER


@dataclass(frozen=True, kw_only=True)
class AtMoment:
    """A moment of a forwarder.

    Attributes:
        forwarder: its name.
        moment: one of `onceproof.harness.subjects.queue.moments.MOMENTS`.
    """

    needs: ClassVar[str | None] = FORWARDER
    forwarder: str = "forwarder-0"
    moment: str = BEFORE_COMMIT


def forwarders(context: RunContext) -> Forwarders:
    """The pipeline as what it must be for a fault that needs a `forwarder`.

    Raises:
        StageTrouble: what is on trial has none.
    """
    if not isinstance(context.pipeline, Forwarders):
        raise StageTrouble(f"{context.subject.name} has no forwarders")
    return context.pipeline


def at_moment(name: str, make: Callable[..., Fault], says: str) -> ByHand:
    """How a fault at a moment of a forwarder is asked for."""
    return ByHand(
        name=name,
        takes=("FORWARDER", "WHEN"),
        example=f"{name} forwarder-0 {BEFORE_COMMIT}",
        says=says,
        make=lambda who, when: make(forwarder=numbered(who, "forwarder"), moment=_moment(when)),
    )


def _moment(word: str) -> str:
    """A moment as it is written by hand.

    Raises:
        UnknownFault: it is none.
    """
    if word in MOMENTS:
        return word
    raise UnknownFault(f"invalid moment {word!r}: expected {' or '.join(MOMENTS)}")
