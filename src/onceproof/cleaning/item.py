"""A thing that can be removed, or must stay."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that was found.

    Attributes:
        name: for display.
        size: bytes on disk; None where that has no meaning.
        detail: more about it, for display.
        stays: why it stays; None: it can be removed.
        remove: removes it; raises OSError, or another error that says why it cannot.
    """

    name: str
    remove: Callable[[], object]
    size: int | None = None
    detail: str = ""
    stays: str | None = None


def size_of(path: Path) -> int:
    """Return the bytes on disk of a file or folder; unreadable files count as 0."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512  # noqa: PTH118
            except OSError:
                continue
    return total
