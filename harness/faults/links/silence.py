"""A request that stays without an answer, on a connection that nobody closes."""

from __future__ import annotations

from typing import Final

from onceproof.harness.faults.links.probe import Probe
from onceproof.harness.processes.trouble import StageTrouble

_SECONDS: Final = 1.0
"""Far more than an answer takes."""


class Silence:
    """Asks once, and then only listens."""

    def __init__(self, *, delivered: bool = False) -> None:
        """`delivered` tells whether the answer has to come when the disturbance is undone."""
        self._delivered = delivered
        self._asked = False

    def before(self, probe: Probe) -> None:
        """Nothing to measure."""

    def met(self, probe: Probe) -> str | None:
        """What was heard: nothing, if it takes effect."""
        if not self._asked:
            probe.send()
            self._asked = True
        if not probe.silent(_SECONDS):  # an answer, or the end of the connection
            return None
        return (
            f"a request of a probe was not answered within {_SECONDS:g} s, and its connection "
            "stayed open"
        )

    def after(self, probe: Probe) -> None:
        """See that the answer comes after all, if it is owed.

        Raises:
            StageTrouble: it was lost.
        """
        try:
            if self._delivered and self._asked:
                probe.answer()
        except OSError as error:
            raise StageTrouble(f"what was held did not arrive after all: {error}") from error
