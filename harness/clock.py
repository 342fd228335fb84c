"""The clock of a history: monotonic nanoseconds with a clock id.

Times may be compared only if their clock ids are equal. The id contains the kernel's boot id, so it
is the same for all processes and containers until the machine reboots, and different elsewhere.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path


@cache
def clock_id() -> str:
    """Return `<boot id>/CLOCK_MONOTONIC` of this machine."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/CLOCK_MONOTONIC"


def now() -> int:
    return time.monotonic_ns()
