"""A part of the run paused: it stands still, and goes on later as if nothing had happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand, victim
from onceproof.harness.faults.targets.base import Verb
from onceproof.harness.faults.verb import VerbFault


@dataclass(frozen=True)
class Pause(VerbFault):
    """A part of the run paused: it stands still, and goes on later as if nothing had happened."""

    kind: ClassVar[str] = "timeout"
    verb: ClassVar[Verb] = "pause"
    word: ClassVar[str] = "pause"


BY_HAND: Final = ByHand(
    name="pause",
    takes=("TARGET",),
    windows=True,
    example="pause coordinator:group:billing",
    says="stop all processes of a part of the run in their tracks; its connections stay, and it "
    "goes on when healed",
    make=lambda who, at=None: Pause(victim(who), at=at),
)
