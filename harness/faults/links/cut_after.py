"""Close each connection of a link after an exact number of bytes in one direction.

Unlike a crash or a network failure, this cuts a message at the same byte every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probe import Probe
from onceproof.harness.faults.links.probed_link import OnLink
from onceproof.harness.faults.links.wire import LONGEST
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.words import Source, Way, Word
from onceproof.harness.links.disturbances import Toxic
from onceproof.harness.links.topology import Link

_REQUESTS: Final = 20
"""Approximate number of requests that make up the bytes that may pass."""


@dataclass(frozen=True, kw_only=True)
class CutAfter:
    """Close each connection of a link after exactly BYTES in one direction."""

    example: ClassVar[str] = "cut-after producer leader:payments-0 requests 1000"
    kind: ClassVar[str] = "partition"
    needs = "links"
    source: Source
    target: AnyNode
    way: Way
    size: Annotated[int, Word("BYTES")]

    def describe(self) -> str:
        return (
            f"close each connection of {self.source} to {self.target.describe()} after "
            f"{self.size} bytes of {self.way}"
        )

    def inject(self, context: RunContext, name: str) -> OnLink:
        link = Link(self.source, self.target.resolve(context))
        how = Toxic(type="limit_data", way=self.way, attributes={"bytes": self.size})
        return OnLink(context, link, how, _Counted(self.way, self.size))


class _Counted:
    """Toxiproxy counts bytes of an open connection only from when the toxic is added."""

    def __init__(self, way: Way, size: int) -> None:
        self._way = way
        self._size = size
        self._answer = 0

    def before(self, probe: Probe) -> None:
        self._answer = probe.ask().received

    def met(self, probe: Probe) -> str | None:
        if self._way == "responses":
            return self._cut_in_responses(probe)
        return self._cut_in_requests(probe)

    def _cut_in_responses(self, probe: Probe) -> str | None:
        probe.send(times=1 + self._size // self._answer)
        passed = probe.until_closed()
        if passed != self._size:
            return None
        return f"a probe's connection was closed after exactly {passed} bytes of responses"

    def _cut_in_requests(self, probe: Probe) -> str | None:
        """Only the receiver sees how many bytes arrive; it answers the complete requests."""
        more = min(self._size // _REQUESTS, LONGEST)
        one = probe.length(more=more)
        if self._size % one == 0:  # the last answer would race the end of the connection
            more, one = more + 1, one + 1
        answered = 0
        try:
            while answered <= self._size // one:
                probe.ask(more=more)
                answered += 1
        except ConnectionError:
            if answered == self._size // one:
                return (
                    f"a probe's connection was closed during a request, after {answered} requests "
                    f"of {one} bytes had been answered"
                )
        return None

    def after(self, probe: Probe) -> None:
        """Nothing to check."""
