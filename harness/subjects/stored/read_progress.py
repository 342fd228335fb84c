"""Record which records a consumer has read: only it knows those that are not yet stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def note(file: Path, ends: Mapping[int, int]) -> None:
    """Write the next offset of each partition in the last read."""
    new = file.with_suffix(".new")
    new.write_text(json.dumps(ends))
    new.replace(file)


def noted(file: Path) -> dict[int, int]:
    """Return what was written last; empty before the first read."""
    try:
        return {int(partition): end for partition, end in json.loads(file.read_text()).items()}
    except FileNotFoundError:
        return {}


def left(ends: Mapping[int, int], stored: Mapping[int, int]) -> int:
    """Return how many records were read and are not stored."""
    return sum(max(0, end - stored.get(partition, 0)) for partition, end in ends.items())
