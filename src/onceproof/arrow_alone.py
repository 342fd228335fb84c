"""Arrow without pandas, for this process.

Arrow asks once whether pandas is there, and imports it to find out: half of
what it costs to judge a small history. Told no, it never asks again; whoever imports pandas
afterwards still gets it. Only the command itself says so: in a process of somebody else (a test
that imports us, say) Arrow is theirs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from threading import Event
from types import ModuleType
from typing import Final

_PANDAS: Final = "pandas"
_ours: Final = Event()


def process_is_ours() -> None:
    """Say that this process is the command `onceproof` and nothing else."""
    _ours.set()


class _NotThere(MetaPathFinder):
    """Finds nothing, and lets nobody else look for pandas."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if fullname == _PANDAS:
            raise ModuleNotFoundError("Arrow goes without pandas here", name=_PANDAS)


def leave_pandas_out() -> None:
    """Have Arrow go without pandas, in a process of ours that has not imported it already."""
    if not _ours.is_set() or _PANDAS in sys.modules:
        return
    finder = _NotThere()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.array([0])  # the first thing that makes it ask
    finally:
        sys.meta_path.remove(finder)
