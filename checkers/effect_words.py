"""How sentences name one of several effects of a record."""

from __future__ import annotations

from onceproof.checkers.model import Row


def named(row: Row) -> str:
    """` named «2»`, to stand behind the word effects; nothing where there is but one, or none."""
    key = row.get("effect_key")
    return f" named «{key}»" if key else ""
