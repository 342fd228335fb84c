"""Compare the time that the same bytes take before and during a disturbance.

It must be as long as the disturbance demands, and twice as long as before, because a busy machine
is slow at times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Final

from onceproof.harness.faults.links.probe import LOOKS, Measurement, Probe
from onceproof.harness.faults.links.wire import LONGEST
from onceproof.harness.links.disturbances import Way

_ENOUGH: Final = 0.8
"""Fraction of the expected time that must be seen, because Toxiproxy rounds."""


class ThroughputProbe:
    """Send or request some bytes and measure the time."""

    def __init__(self, way: Way, *, size: int, seconds: Callable[[int], float]) -> None:
        """`seconds` returns how long a number of bytes must take on the disturbed link."""
        self._way = way
        self._size = size
        self._seconds = seconds
        self._times = self._more = 0
        self._before: Measurement | None = None

    def before(self, probe: Probe) -> None:
        one = probe.ask()
        if self._way == "requests":
            self._more = min(self._size, LONGEST)
            self._times = math.ceil(self._size / LONGEST)
        else:
            self._times = math.ceil(self._size / one.received)
        self._before = min((self._measure(probe) for _ in range(LOOKS)), key=attrgetter("seconds"))

    def met(self, probe: Probe) -> str | None:
        assert self._before is not None, "the link is measured before it is disturbed"
        took = self._measure(probe)
        size = took.sent if self._way == "requests" else took.received
        if took.seconds < max(_ENOUGH * self._seconds(size), 2 * self._before.seconds):
            return None
        return (
            f"{size} bytes of {self._way} took {took.seconds:.2f} s, compared with "
            f"{self._before.seconds:.3f} s before the fault"
        )

    def after(self, probe: Probe) -> None:
        """Nothing to check."""

    def _measure(self, probe: Probe) -> Measurement:
        return probe.ask(more=self._more, times=self._times)
