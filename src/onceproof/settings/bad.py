"""Errors in settings."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadSettings(ValueError):
    """An invalid setting; the message says where, what was expected and what was found."""


def hint(word: str, known: Iterable[str]) -> str:
    """Suggest a known name that is similar to an unknown one."""
    there = sorted(known)
    near = difflib.get_close_matches(word, there, n=3, cutoff=0.5)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return "`onceproof config show` lists all."
