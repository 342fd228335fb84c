"""Wording for one of several effects of a record."""

from __future__ import annotations

from onceproof.checkers.model import Row


def named(row: Row) -> str:
    """Return ` named «2»`, to follow the word effects; empty if the effect has no key."""
    key = row.get("effect_key")
    return f" named «{key}»" if key else ""
