"""Remove the paused pipeline from its group, and resume it.

For groups that no member of ours can join, as those of Kafka Streams and Kafka Connect: its
partitions are not reassigned, but its commits are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.coordinated import group_of
from onceproof.harness.faults.program.programs import at_work, program, wait_works
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class RemoveProgram:
    """Pause the pipeline until every member of its group has been removed."""

    kind: ClassVar[str] = "timeout"
    needs = PROGRAM
    group: str
    phase: float = 0.0
    """How long after a write to pause it; see `at_work`."""

    def describe(self) -> str:
        return f"pause the pipeline until it is removed from group {self.group}"

    def inject(self, context: RunContext, name: str) -> _Removed:
        at_work(context, self.phase)
        return _Removed(context, self.group)


class _Removed:
    def __init__(self, context: RunContext, group: str) -> None:
        self._context, self._group = context, group
        self._process = program(context).pause()
        self.at = now()
        self.target = self._process.instance
        self._asked = False
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._proof is None and self._process.frozen():
            with group_of(self._context, self._group) as group:
                if not self._asked:
                    group.remove_members()
                    self._asked = True
                if not group.describe().members:
                    self._proof = (
                        f"{self.target} was paused while it was removed from group {self._group}"
                    )
        return self._proof

    def heal(self) -> None:
        self._process.thaw()
        wait_works(self._context)
