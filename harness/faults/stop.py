"""Stop a part of the run with SIGTERM, as a deployment does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.faults.targets.base import Verb
from onceproof.harness.faults.verb import VerbFault


@dataclass(frozen=True)
class Stop(VerbFault):
    """Ask a part of the run to stop, by SIGTERM or its own tools; it is restarted when healed."""

    example: ClassVar[str] = "stop broker-2"
    kind: ClassVar[str] = "crash"
    verb: ClassVar[Verb] = "stop"
    word: ClassVar[str] = "SIGTERM"
