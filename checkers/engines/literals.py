"""Values as SQL literals, the same in every dialect that we speak."""

from __future__ import annotations

from onceproof.checkers.model import Value


def literal(value: Value) -> str:
    """A value as it is in a query.

    Raises:
        TypeError: it is none that queries compare with.
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise TypeError(f"{value!r} has no place in a query")
