"""How many runs a machine has room for."""

from __future__ import annotations

import os
from typing import Final

import psutil

_GIGABYTES_EACH: Final = 6
"""Three brokers, a database, and Spark's or a client's JVMs at their largest."""


def room() -> int:
    """How many runs this machine has room for at a time; at least one."""
    return room_for(
        cores=len(os.sched_getaffinity(0)), memory=psutil.virtual_memory().total / 2**30
    )


def room_for(*, cores: int, memory: float) -> int:
    """One run for each core that we may use, as long as there is memory (GiB) for it."""
    return max(1, min(cores, int(memory / _GIGABYTES_EACH)))
