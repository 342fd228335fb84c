"""Make foreign names safe and short for a picture.

Two different names never get the same short form: the picture would show a different history.
"""

from __future__ import annotations

import unicodedata

from rich.cells import cell_len

from onceproof.reports.text import line

_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def harmless(name: object) -> str:
    """Put a name on one line, and escape control characters and right-to-left text."""
    text = line("–" if name is None else str(name))
    return "".join(
        f"\\u{ord(c):04x}" if unicodedata.bidirectional(c) in _RIGHT_TO_LEFT else c for c in text
    )


def fitted(text: str, width: int) -> str:
    """Cut a text in its middle, where names differ least, to a width in terminal columns."""
    if cell_len(text) <= width:
        return text
    width = max(1, width)
    head, tail = width // 2, (width - 1) // 2
    front, back = text[:head], text[len(text) - tail :]
    while cell_len(front) > head:
        front = front[:-1]
    while cell_len(back) > tail:
        back = back[1:]
    return f"{front}…{back}"


class Names:
    """The short names of one picture, each at most `limit` columns wide."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._short: dict[str, str] = {}
        self._taken: set[str] = set()

    def __call__(self, name: object) -> str:
        """Return the short form of a name, which no other name gets."""
        full = str(name)
        if full not in self._short:
            short = fitted(harmless(name), self._limit) or "''"
            number = 1
            while short in self._taken:
                number += 1
                mark = f"~{number}"
                short = fitted(harmless(name), self._limit - len(mark)) + mark
            self._short[full] = short
            self._taken.add(short)
        return self._short[full]
