"""The processor time of a process, to the nanosecond.

`/proc` counts ticks of 10 ms, which is as much as a client uses in a short measurement.
"""

from __future__ import annotations

import time
from typing import Final

_SCHEDULER: Final = 2
"""The clock of a process that the scheduler keeps: clock_getcpuclockid(3), as in the kernel's
posix-timers.h."""


def processor_seconds(pid: int) -> float:
    """Return what a process has used, with all its threads.

    Raises:
        OSError: there is no such process.
    """
    return time.clock_gettime((~pid << 3) | _SCHEDULER)
