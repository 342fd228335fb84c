"""Combine the exit codes of many runs."""

from __future__ import annotations

from collections.abc import Iterable

from onceproof.interrupts import INTERRUPTED

_SEVERITY = (INTERRUPTED, 1, 2, 3, 4, 5, 0)


def worst(codes: Iterable[int]) -> int:
    """Return the most severe code (interrupted first, then by verdict), or 0 for no run."""
    found = set(codes)
    return next((code for code in _SEVERITY if code in found), 0)
