"""Whose `reports` is imported: ours, in a process of ours.

The one thing to know: PYTHONPATH comes before installed packages, and a project that is put on
trial may have packages with names of ours in it.
"""

from __future__ import annotations

import sys
from pathlib import Path


def import_ours_first() -> None:
    """Look for packages where this one lies before anywhere else."""
    ours = str(Path(__file__).resolve().parents[1])
    if sys.path[:1] != [ours]:
        sys.path.insert(0, ours)
