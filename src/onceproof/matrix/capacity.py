"""Decide how many runs a machine can execute in parallel."""

from __future__ import annotations

import os
from typing import Final

import psutil

_GIGABYTES_EACH: Final = 6
"""Three brokers, a database, and the JVMs of Spark or of a client at their largest."""


def room() -> int:
    return room_for(
        cores=len(os.sched_getaffinity(0)), memory=psutil.virtual_memory().total / 2**30
    )


def room_for(*, cores: int, memory: float) -> int:
    """Return one run per available core, limited by memory (GiB); at least one."""
    return max(1, min(cores, int(memory / _GIGABYTES_EACH)))
