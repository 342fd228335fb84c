"""Values as SQL literals, the same in every dialect used."""

from __future__ import annotations

from onceproof.checkers.model import Value


def literal(value: Value) -> str:
    """Return a value as SQL.

    Raises:
        TypeError: the value has an unsupported type.
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise TypeError(
        f"{value!r} cannot be written in a query: expected a string, an integer or a boolean"
    )
