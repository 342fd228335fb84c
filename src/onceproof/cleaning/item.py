"""Something that could be removed, or has to stay."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that was found.

    Attributes:
        name: for people.
        size: bytes on the disk; None where that means nothing.
        detail: more of it, in words.
        stays: why it stays; None: it goes.
        remove: removes it; raises OSError, or another error that says why not.
    """

    name: str
    remove: Callable[[], object]
    size: int | None = None
    detail: str = ""
    stays: str | None = None


def size_of(path: Path) -> int:
    """Bytes that a file or folder takes on the disk; what cannot be looked at counts nothing."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512  # noqa: PTH118
            except OSError:
                continue
    return total
