"""Foreign names made fit for a picture: harmless, short, and still told apart.

Two different names never become the same short one, because a picture in
which two records look alike tells another history.
"""

from __future__ import annotations

import unicodedata

from rich.cells import cell_len

from onceproof.reports.text import line

_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def harmless(name: object) -> str:
    """On one line, with nothing that acts unseen, nor anything that turns the line's direction."""
    text = line("–" if name is None else str(name))
    return "".join(
        f"\\u{ord(c):04x}" if unicodedata.bidirectional(c) in _RIGHT_TO_LEFT else c for c in text
    )


def fitted(text: str, width: int) -> str:
    """The text within a width, cut in its middle, where names differ least."""
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
    """The short names of one picture."""

    def __init__(self, limit: int) -> None:
        """Names get at most `limit` columns."""
        self._limit = limit
        self._short: dict[str, str] = {}
        self._taken: set[str] = set()

    def __call__(self, name: object) -> str:
        """The short form; the same one for the same name, another one for any other."""
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
