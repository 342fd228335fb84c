"""Pace the workload, so that faults never hit an idle pipeline.

A share of the workload is reserved for each fault that has not ended. At this limit the producers
slow down to a trickle. When the last fault is healed, they send the rest as fast as possible. So
the faults determine the length of a run, on fast and slow machines.
"""

from __future__ import annotations

import threading

from onceproof.harness.wait import Stop
from onceproof.harness.workload.base import Workload

_WARM_UP = 0.1
"""Fraction of the workload to send before records flow end to end."""
_SHARE = 0.15
"""Fraction of the workload to reserve for each fault, if there are few."""
_KEPT = 0.9
"""Fraction of the workload to reserve for all faults, if there are many."""
_SLOW_DOWN = 0.05
"""Fraction of the workload, before a limit, over which the producers slow down."""
_LEAST = 0.02
"""Minimum fraction of the rate."""
_FAULT_SECONDS = 10.0
"""Assumed duration of a fault while none has ended."""


class Pace:
    """The pace of all producers of one workload. Thread-safe."""

    def __init__(self, workload: Workload, stop: Stop) -> None:
        self._workload = workload
        self._stop = stop
        self._warm = self._held = False
        self._faults_to_come = self._most_faults = 0
        self._faults_since = 0.0
        self.hurried = threading.Event()

    def warmed_up(self) -> None:
        """Lift the first limit, because records flow end to end."""
        self._warm = True

    def keep_for(self, faults: int) -> None:
        """Reserve a share of the workload for each of the faults."""
        self._faults_to_come = faults
        if faults > self._most_faults:
            self._most_faults, self._faults_since = faults, self._stop.monotonic()

    def hold(self, held: bool) -> None:
        """Stop sending, or continue if `held` is False."""
        self._held = held

    def hurry(self) -> None:
        self.hurried.set()

    @property
    def limit(self) -> float:
        """Number of records to send so far, without the trickle."""
        total = self._workload.records
        if not self._warm:
            return total * _WARM_UP
        share = min(_SHARE, _KEPT / max(self._most_faults, 1))
        return total * max(_WARM_UP, 1 - share * self._faults_to_come)

    def rate(self, called: int) -> float:
        """Return one producer's records per second after `called` calls by all."""
        if self._held:
            return 0.0
        room = (self.limit - called) / max(self._workload.records * _SLOW_DOWN, 1)
        part = min(1.0, max(self._least_share(called), room))
        return self._workload.rate * part / self._workload.producers

    def _least_share(self, called: int) -> float:
        """Return the fraction of the rate at a limit: the rest must last for all faults to come."""
        over = self._most_faults - self._faults_to_come
        seconds = (self._stop.monotonic() - self._faults_since) / over if over else _FAULT_SECONDS
        lasting = max(self._faults_to_come * seconds, 1.0) * self._workload.rate
        left = self._workload.records - called
        return min(self._workload.trickle, max(_LEAST, left / lasting))
