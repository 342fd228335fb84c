"""SIGKILL of a part of the run; it is started again when healed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand, victim
from onceproof.harness.faults.targets.base import Verb
from onceproof.harness.faults.verb import VerbFault


@dataclass(frozen=True)
class Kill(VerbFault):
    """SIGKILL of a part of the run; it is started again when healed."""

    kind: ClassVar[str] = "crash"
    verb: ClassVar[Verb] = "kill"
    word: ClassVar[str] = "SIGKILL"


BY_HAND: Final = ByHand(
    name="kill",
    takes=("TARGET",),
    windows=True,
    example="kill leader:payments-0",
    says="SIGKILL a part of the run with all its processes; it is started again when healed",
    make=lambda who, at=None: Kill(victim(who), at=at),
)
