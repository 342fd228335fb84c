"""A link disturbed, with a probe of our own that meets what clients meet.

What nobody but the probe meets disturbs nobody, so it proves nothing: there
have to be connections of others on the link as well.
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


class Trial(Protocol):
    """Tries a link by a connection that was open before it was disturbed."""

    def before(self, probe: Probe) -> None:
        """Measure the link as it is."""

    def met(self, probe: Probe) -> str | None:
        """What the probe met, in words; None if that proves nothing."""

    def after(self, probe: Probe) -> None:
        """See that the disturbance is undone; the connection was still there, and silent.

        Raises:
            StageTrouble: it is not.
        """


class OnLink:
    """One disturbance of one link at work."""

    def __init__(
        self,
        context: RunContext,
        link: Link,
        how: Disturbance,
        trial: Trial,
    ) -> None:
        """Disturb it.

        Args:
            trial: what proves it.

        Raises:
            StageTrouble: it does not work as it is, or cannot be disturbed.
        """
        self._context = context
        self._link = link
        self._trial = trial
        self._others = context.stage.connections(link)
        self.target = str(link)
        self.at = now()
        self._probe = undisturbed(context.stage, link)
        try:
            trial.before(self._probe)
            self._hold = context.stage.disturb(link, how)
        except BaseException:
            self._probe.close()
            raise
        self._seen: str | None = None

    def evidence(self) -> str | None:
        """What the probe met, and how many connections others had on the link."""
        self._others = max(self._others, self._context.stage.connections(self._link) - 1)
        if self._others and self._seen is None:
            with suppress(OSError):  # it is tried again
                self._seen = self._trial.met(self._probe)
        if self._seen is None:
            return None
        return f"{self._others} connections on {self._link}; {self._seen}"

    def heal(self) -> None:
        """Undo it; if nobody else disturbs the link, see that it works."""
        waiting = self._probe.silent(0)
        self._hold.release()
        try:
            if waiting:
                self._trial.after(self._probe)
        finally:
            self._probe.close()
        wait_mended(self._context, [self._link])


def wait_mended(context: RunContext, links: Iterable[Link]) -> None:
    """See that links work again, but for those that somebody else disturbs.

    Raises:
        Overdue: one does not in time.
    """
    for link in links:
        if not _disturbed_by_others(context, link):
            _wait_works(context, link)


def _disturbed_by_others(context: RunContext, link: Link) -> bool:
    """Whether a link, or a node at one of its ends, is disturbed all the same."""
    return not context.stage.disturbed().keys().isdisjoint([str(link), link.source, link.target])


def _wait_works(context: RunContext, link: Link) -> None:
    """Wait until a new connection on a link gets an answer."""

    def works() -> bool:
        try:
            with Probe(context.stage, link) as probe:
                probe.ask()
        except OSError:
            return False
        return True

    wait_until(works, what=f"an answer on {link}", seconds=30, stop=context.stop)
