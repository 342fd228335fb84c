"""Report the close of a connection late, so that its client keeps waiting."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probe import LOOKS, Probe
from onceproof.harness.faults.links.probed_link import OnLink
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.words import Source, Word
from onceproof.harness.links.disturbances import Toxic
from onceproof.harness.links.topology import Link
from onceproof.harness.stage.base import Stage


@dataclass(frozen=True, kw_only=True)
class CloseSlowly:
    """Delay the close of a node's connections: the other end sees it MS milliseconds later."""

    example: ClassVar[str] = "close-slowly producer broker-1 2000"
    kind: ClassVar[str] = "timeout"
    needs = "links"
    source: Source
    target: AnyNode
    milliseconds: Annotated[int, Word("MS")]

    def describe(self) -> str:
        return (
            f"delay the close of connections between {self.source} and {self.target.describe()} "
            f"by {self.milliseconds} ms"
        )

    def inject(self, context: RunContext, name: str) -> OnLink:
        link = Link(self.source, self.target.resolve(context))
        how = Toxic(type="slow_close", way="responses", attributes={"delay": self.milliseconds})
        return OnLink(context, link, how, _SlowClose(context.stage, link, self.milliseconds))


class _SlowClose:
    def __init__(self, stage: Stage, link: Link, milliseconds: int) -> None:
        self._stage = stage
        self._link = link
        self._milliseconds = milliseconds
        self._before = 0.0

    def before(self, probe: Probe) -> None:
        self._before = min(self._time_close() for _ in range(LOOKS))

    def met(self, probe: Probe) -> str | None:
        seconds = self._time_close()
        if seconds * 1000 < self._milliseconds or seconds < 2 * self._before:
            return None
        return (
            f"a probe's connection was closed after {seconds:.2f} s, compared with "
            f"{self._before:.3f} s before the fault"
        )

    def after(self, probe: Probe) -> None:
        """Nothing to check."""

    def _time_close(self) -> float:
        with Probe(self._stage, self._link) as fresh:
            fresh.ask()
            began = time.monotonic()
            fresh.send_invalid()
            fresh.until_closed()
            return time.monotonic() - began
