"""Import Arrow without numpy and pandas, to start faster.

Arrow imports numpy, and checks once for pandas by importing it. That takes as long as judging a
small history. If the first check fails, Arrow never repeats it; other code can still import numpy
and pandas later. Only the command `onceproof` does this: a test process that imports onceproof
keeps its normal Arrow.
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
    """Declare that this process runs only the command `onceproof`."""
    _ours.set()


class _Blocker(MetaPathFinder):
    """Import finder that blocks numpy and pandas."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if fullname in _LEFT_OUT:
            raise ModuleNotFoundError(f"{fullname} is blocked while Arrow loads", name=fullname)


def import_arrow_alone() -> None:
    """Do nothing outside the command `onceproof`, or if one of the three is imported already."""
    if not _ours.is_set() or not sys.modules.keys().isdisjoint({"pyarrow", *_LEFT_OUT}):
        return
    finder = _Blocker()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa
        import pyarrow.compute

        pa.array([0])  # triggers the check for pandas
    finally:
        sys.meta_path.remove(finder)
