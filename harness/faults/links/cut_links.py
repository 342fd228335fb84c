"""Cut several links at once, for partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.rejoin import wait_back
from onceproof.harness.faults.links.disturbing import disturb
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link

Consequence = Callable[[int], str | None]
"""Given the start time, return the required consequence in words; None until it has occurred."""


class CutLinksInjection:
    """Several cut links as one injection."""

    def __init__(
        self,
        context: RunContext,
        links: Sequence[Link],
        target: str,
        *,
        consequence: Consequence | None = None,
    ) -> None:
        """Cut all links.

        Raises:
            StageTrouble: one cannot be cut; the others are mended as far as possible.
        """
        self._context = context
        self._links = links
        self._consequence = consequence
        self.target = target
        self._closed = self._open()
        self.at = now()
        self._hold = disturb(context.stage, [(link, CUT) for link in links])
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._proof is None and self._closed and not self._open():
            result = self._consequence(self.at) if self._consequence else "new ones refused"
            if result is not None:
                self._proof = (
                    f"{self._closed} connections on {len(self._links)} links closed; {result}"
                )
        return self._proof

    def heal(self) -> None:
        self._hold.release()
        wait_mended(self._context, self._links)
        ends = {end for link in self._links for end in (link.source, link.target)}
        for broker in sorted(ends.intersection(self._context.stage.brokers)):
            wait_back(self._context, broker)

    def _open(self) -> int:
        return sum(map(self._context.stage.connections, self._links))
