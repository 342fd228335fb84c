"""Check that a partition of the input is empty while the pipeline reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.program.programs import at_work, wait_works
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class EmptyPartition:
    """Wait until the pipeline writes what it read from other partitions while one is empty.

    Made-up orders start like that; nothing is done to the pipeline.
    """

    kind: ClassVar[str] = "timeout"
    needs = PROGRAM

    def describe(self) -> str:
        return "check that the pipeline writes while a partition of the input is empty"

    def inject(self, context: RunContext, name: str) -> _Empty:
        at_work(context)
        return _Empty(context)


class _Empty:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        ends = context.input_ends()
        self._others = sum(ends.values())
        self._empty = [f"{topic}-{p}" for (topic, p), end in sorted(ends.items()) if not end]
        self.target = ", ".join(self._empty) or f"topic {context.topic}"
        self.at = now()

    def evidence(self) -> str:
        """Return which partition was empty; raise `NoEffect` if none was."""
        if not self._empty:
            raise NoEffect("every partition of the input had records")
        return (
            f"the pipeline wrote while {self.target} was empty and the other partitions had "
            f"{self._others} records"
        )

    def heal(self) -> None:
        wait_works(self._context)
