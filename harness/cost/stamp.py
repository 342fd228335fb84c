"""The stamp that a record carries: when it was due, its block, and its number in the block."""

from __future__ import annotations

import re
from typing import Final

_STAMP: Final = re.compile(rb"cost-(\d+)-(\d+)-(\d+)-")


def stamp(due: int, block: int, number: int) -> bytes:
    """Return a stamp; `due` in nanoseconds of the monotonic clock."""
    return b"cost-%d-%d-%d-" % (due, block, number)


def read_stamp(value: bytes) -> tuple[int, int, int] | None:
    """Return when a record was due, its block and its number; None if it has no stamp."""
    found = _STAMP.search(value)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))
