"""Kill a part of the run with SIGKILL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.faults.targets.base import Verb
from onceproof.harness.faults.verb import VerbFault


@dataclass(frozen=True)
class Kill(VerbFault):
    """SIGKILL a part of the run with all its processes; it is restarted when healed."""

    example: ClassVar[str] = "kill leader:payments-0"
    kind: ClassVar[str] = "crash"
    verb: ClassVar[Verb] = "kill"
    word: ClassVar[str] = "SIGKILL"
