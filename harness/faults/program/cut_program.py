"""Cut the pipeline off from all brokers, and reconnect it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.disturbing import disturb
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.program.programs import at_work, wait_works
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link


@dataclass(frozen=True, kw_only=True)
class CutProgram:
    """Cut your pipeline off from all brokers for some seconds."""

    example: ClassVar[str] = "cut-program"
    kind: ClassVar[str] = "partition"
    needs = "cut"
    seconds: float = 3.0

    def describe(self) -> str:
        return f"cut the pipeline from all brokers for {self.seconds:g} s"

    def inject(self, context: RunContext, name: str) -> _Cut:
        at_work(context)
        return _Cut(context, self.seconds)


class _Cut:
    def __init__(self, context: RunContext, seconds: float) -> None:
        self._context, self._seconds = context, seconds
        self._links = [Link("pipeline", node) for node in context.stage.brokers]
        self.target = "pipeline→all brokers"
        self._closed = sum(context.stage.connections(link) for link in self._links)
        self._acknowledged = context.producers.acknowledged
        self.at = now()
        self._hold = disturb(context.stage, [(link, CUT) for link in self._links])

    def evidence(self) -> str | None:
        missed = self._context.producers.acknowledged - self._acknowledged
        elapsed = (now() - self.at) / 1e9 >= self._seconds
        if not self._closed or not missed or not elapsed:
            return None
        if any(self._context.stage.connections(link) for link in self._links):
            return None
        return (
            f"{self._closed} connections of the pipeline to brokers closed, new ones refused; "
            f"meanwhile {missed} records were acknowledged"
        )

    def heal(self) -> None:
        self._hold.release()
        wait_mended(self._context, self._links)
        wait_works(self._context)
