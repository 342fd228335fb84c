"""SIGTERM to a part of the run, as a deployment ends it; it is started again when healed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand, victim
from onceproof.harness.faults.targets.base import Verb
from onceproof.harness.faults.verb import VerbFault


@dataclass(frozen=True)
class Stop(VerbFault):
    """SIGTERM to a part of the run, as a deployment ends it; it is started again when healed."""

    kind: ClassVar[str] = "crash"
    verb: ClassVar[Verb] = "stop"
    word: ClassVar[str] = "SIGTERM"


BY_HAND: Final = ByHand(
    name="stop",
    takes=("TARGET",),
    windows=True,
    example="stop broker-2",
    says="ask a part of the run to end, by SIGTERM or as its own tools do; it is started again "
    "when healed",
    make=lambda who, at=None: Stop(victim(who), at=at),
)
