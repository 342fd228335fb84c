"""The error that importers raise, and helpers for its message."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from onceproof.checkers.history import BadHistory

_LONGEST = 80


class BadImport(BadHistory):
    """A history that cannot be imported; says where, what was expected and what was found."""

    def __init__(
        self,
        path: Path | str,
        problem: str,
        *,
        line: int | None = None,
        column: int | None = None,
        field: str | None = None,
    ) -> None:
        where = f"{path}"
        where += f", line {line}" if line is not None else ""
        where += f", column {column}" if column is not None else ""
        where += f", field {field}" if field is not None else ""
        super().__init__(f"{where}: {problem}")
        self.path, self.line, self.column, self.field = path, line, column, field
        self.problem = problem


def shown(value: object) -> str:
    """Format a value for a message, quoted and shortened."""
    text = repr(value) if isinstance(value, str) else str(value)
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def closest(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean … ?` if a known name is similar, else an empty string."""
    names = {one.lower(): one for one in known}
    found = get_close_matches(name.lower(), list(names), n=1, cutoff=0.5)
    return f" Did you mean {names[found[0]]}?" if found else ""
