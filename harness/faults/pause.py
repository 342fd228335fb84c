"""Pause a part of the run; it resumes unaware that it was paused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.faults.targets.base import Verb
from onceproof.harness.faults.verb import VerbFault


@dataclass(frozen=True)
class Pause(VerbFault):
    """Suspend all processes of a part of the run; its connections stay open, and it continues when
    healed.
    """

    example: ClassVar[str] = "pause coordinator:group:billing"
    kind: ClassVar[str] = "timeout"
    verb: ClassVar[Verb] = "pause"
    word: ClassVar[str] = "pause"
