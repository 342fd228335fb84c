"""Detect a request that is not answered on a connection that stays open."""

from __future__ import annotations

from typing import Final

from onceproof.harness.faults.links.probe import Probe
from onceproof.harness.processes.trouble import StageTrouble

_SECONDS: Final = 1.0
"""Far longer than an answer takes."""


class Silence:
    """Send one request and listen."""

    def __init__(self, *, delivered: bool = False) -> None:
        """`delivered`: whether the answer must arrive once the disturbance is undone."""
        self._delivered = delivered
        self._asked = False

    def before(self, probe: Probe) -> None:
        """Nothing to measure."""

    def met(self, probe: Probe) -> str | None:
        if not self._asked:
            probe.send()
            self._asked = True
        if not probe.silent(_SECONDS):  # an answer, or the end of the connection
            return None
        return (
            f"a probe's request was not answered within {_SECONDS:g} s, and its connection stayed "
            "open"
        )

    def after(self, probe: Probe) -> None:
        """Wait for the answer, if it must arrive; raise `StageTrouble` if it was lost."""
        try:
            if self._delivered and self._asked:
                probe.answer()
        except OSError as error:
            raise StageTrouble(f"the held data was not delivered: {error}") from error
