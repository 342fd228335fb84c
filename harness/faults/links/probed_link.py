"""Disturb a link, and measure the effect by a probe.

There must be other connections on the link: a disturbance that only the probe sees proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.links.probe import Probe, undisturbed
from onceproof.harness.links.disturbances import Disturbance
from onceproof.harness.links.topology import Link
from onceproof.harness.wait import wait_until


class EffectCheck(Protocol):
    """Test a link by a connection that was open before the disturbance."""

    def before(self, probe: Probe) -> None:
        """Measure the undisturbed link."""

    def met(self, probe: Probe) -> str | None:
        """Return what the probe met; None if that proves nothing."""

    def after(self, probe: Probe) -> None:
        """Check that it is undone, or raise `StageTrouble`; called if the probe was silent."""


class OnLink:
    """One disturbed link as an injection."""

    def __init__(
        self,
        context: RunContext,
        link: Link,
        how: Disturbance,
        check: EffectCheck,
    ) -> None:
        """Disturb the link; raise `StageTrouble` if it does not work or cannot be disturbed."""
        self._context = context
        self._link = link
        self._check = check
        self._others = context.stage.connections(link)
        self.target = str(link)
        self.at = now()
        self._probe = undisturbed(context.stage, link)
        try:
            check.before(self._probe)
            self._hold = context.stage.disturb(link, how)
        except BaseException:
            self._probe.close()
            raise
        self._seen: str | None = None

    def evidence(self) -> str | None:
        """Return what the probe met, and how many other connections the link had."""
        self._others = max(self._others, self._context.stage.connections(self._link) - 1)
        if self._others and self._seen is None:
            with suppress(OSError):  # the next call tries again
                self._seen = self._check.met(self._probe)
        if self._seen is None:
            return None
        return f"{self._others} connections on {self._link}; {self._seen}"

    def heal(self) -> None:
        """Undo it, and wait until the link works unless another fault disturbs it."""
        waiting = self._probe.silent(0)
        self._hold.release()
        try:
            if waiting:
                self._check.after(self._probe)
        finally:
            self._probe.close()
        wait_mended(self._context, [self._link])


def wait_mended(context: RunContext, links: Iterable[Link]) -> None:
    """Wait until links work, or raise `Overdue`; skip those that another fault disturbs."""
    for link in links:
        if not _disturbed_by_others(context, link):
            _wait_works(context, link)


def _disturbed_by_others(context: RunContext, link: Link) -> bool:
    """Whether the link, or a node at one of its ends, is still disturbed."""
    return not context.stage.disturbed().keys().isdisjoint([str(link), link.source, link.target])


def _wait_works(context: RunContext, link: Link) -> None:
    def works() -> bool:
        try:
            with Probe(context.stage, link) as probe:
                probe.ask()
        except OSError:
            return False
        return True

    wait_until(works, what=f"an answer on {link}", seconds=30, stop=context.stop)
