"""The one clock of a history: monotonic nanoseconds with a clock id.

Two times may be compared only when their clock ids are equal. The id is the
kernel's boot id and the clock's name, so it is equal for all processes of one boot of one machine
(containers included) and different everywhere else.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path


@cache
def clock_id() -> str:
    """`<boot id>/CLOCK_MONOTONIC` of this machine."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/CLOCK_MONOTONIC"


def now() -> int:
    """Monotonic nanoseconds."""
    return time.monotonic_ns()
