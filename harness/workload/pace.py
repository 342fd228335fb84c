"""How fast the workload goes on, so that faults never meet an idle pipeline.

For every fault that is not over a share of the workload is kept back; at such a limit the producers
slow down to a trickle. When the last fault is healed, the rest goes out as fast as it can. So the
length of a run follows from its faults and not from a guess, on fast machines and on slow ones.
"""

from __future__ import annotations

import threading

from onceproof.harness.wait import Stop
from onceproof.harness.workload.base import Workload

_WARM_UP = 0.1
"""Part of the workload that may be sent before records flow end to end."""
_SHARE = 0.15
"""Part of the workload that is kept for each fault that is not over, where there are few."""
_KEPT = 0.9
"""Part of the workload that is kept for all of them, where there are many."""
_SLOW_DOWN = 0.05
"""Part of the workload before a limit in which the producers slow down."""
_LEAST = 0.02
"""Part of the rate that goes on in any case: a fault never meets an idle pipeline."""
_FAULT_SECONDS = 10.0
"""How long a fault is taken to last while none is over."""


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
        """Records flow end to end: the workload may go on beyond its first part."""
        self._warm = True

    def keep_for(self, faults: int) -> None:
        """Keep a share of the workload back for each of so many faults."""
        self._faults_to_come = faults
        if faults > self._most_faults:
            self._most_faults, self._faults_since = faults, self._stop.monotonic()

    def hold(self, held: bool) -> None:
        """Send nothing until this is called again with False."""
        self._held = held

    def hurry(self) -> None:
        """Send the rest as fast as the brokers take it."""
        self.hurried.set()

    @property
    def limit(self) -> float:
        """How many records may be sent by now, apart from the trickle."""
        total = self._workload.records
        if not self._warm:
            return total * _WARM_UP
        share = min(_SHARE, _KEPT / max(self._most_faults, 1))
        return total * max(_WARM_UP, 1 - share * self._faults_to_come)

    def rate(self, called: int) -> float:
        """Records per second for one producer when so many were sent, less towards the limit."""
        if self._held:
            return 0.0
        room = (self.limit - called) / max(self._workload.records * _SLOW_DOWN, 1)
        part = min(1.0, max(self._least_part(called), room))
        return self._workload.rate * part / self._workload.producers

    def _least_part(self, called: int) -> float:
        """Part of the rate at a limit: what is left must do for all faults that are to come."""
        over = self._most_faults - self._faults_to_come
        seconds = (self._stop.monotonic() - self._faults_since) / over if over else _FAULT_SECONDS
        lasting = max(self._faults_to_come * seconds, 1.0) * self._workload.rate
        left = self._workload.records - called
        return min(self._workload.trickle, max(_LEAST, left / lasting))
