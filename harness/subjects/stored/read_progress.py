"""How far a consumer has read, in a small file of its own.

What it has read and not stored yet it has in hand, and nobody else can tell
how much that is. Whoever pauses it must know that there is something.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def note(file: Path, ends: Mapping[int, int]) -> None:
    """Write down the next offset to be read, of each partition of the last reading."""
    new = file.with_suffix(".new")
    new.write_text(json.dumps(ends))
    new.replace(file)


def noted(file: Path) -> dict[int, int]:
    """What was written down last; nothing before the first reading."""
    try:
        return {int(partition): end for partition, end in json.loads(file.read_text()).items()}
    except FileNotFoundError:
        return {}


def left(ends: Mapping[int, int], stored: Mapping[int, int]) -> int:
    """How many records were read and are not stored."""
    return sum(max(0, end - stored.get(partition, 0)) for partition, end in ends.items())
