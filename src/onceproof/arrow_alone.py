"""Arrow without numpy and pandas, for this process.

Arrow imports numpy, and asks once whether pandas is there, by importing it: that costs as much as
judging a small history. Told no, it never asks again; whoever imports them afterwards still gets
them. Only the command itself says so: in a process of somebody else (a test that imports us, say)
Arrow is theirs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from threading import Event
from types import ModuleType
from typing import Final

_LEFT_OUT: Final = frozenset({"numpy", "pandas"})
_ours: Final = Event()


def process_is_ours() -> None:
    """Say that this process is the command `onceproof` and nothing else."""
    _ours.set()


class _NotThere(MetaPathFinder):
    """Finds nothing, and lets nobody else look for what is left out."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if fullname in _LEFT_OUT:
            raise ModuleNotFoundError(f"Arrow goes without {fullname} here", name=fullname)


def import_arrow_alone() -> None:
    """Import Arrow without numpy and pandas, in a process of ours that has none of them yet."""
    if not _ours.is_set() or not sys.modules.keys().isdisjoint({"pyarrow", *_LEFT_OUT}):
        return
    finder = _NotThere()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa
        import pyarrow.compute

        pa.array([0])  # the first thing that makes it ask
    finally:
        sys.meta_path.remove(finder)
