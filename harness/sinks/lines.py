"""A text file that copies of payments are appended to, one a line.

Who appends may die amid a line, or between a line and its newline, and who
comes after goes on behind it. So a line may hold several payments, and pieces of one. A piece is
no effect: it is counted, and passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.sinks.copies import record_of

VIEW: Final = "file"
"""Who looks: a reader of the file."""
_BEGINS: Final = '{"record"'


class Lines:
    """One file."""

    def __init__(self, file: Path, *, sink: str) -> None:
        """`file` may come later; until then there is nothing in it."""
        self._file = file
        self.name = sink

    def size(self) -> int:
        """Its bytes."""
        return self._file.stat().st_size if self._file.exists() else 0

    def effects(self) -> list[Effect]:
        """One for each whole payment."""
        found: list[Effect] = []
        for number, piece, whole in self._pieces():
            if whole:
                found.append(
                    Effect(
                        sink=self.name,
                        view=VIEW,
                        record=record_of(piece),
                        effect_key="",
                        digest=digest(piece),
                        position=f"line {number}",
                        ordinal=len(found),
                    )
                )
        return found

    def torn(self) -> int:
        """How many pieces of payments are in it."""
        return sum(1 for _, _, whole in self._pieces() if not whole)

    def states(self) -> list[State]:
        """None."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """None: a file holds no positions."""
        return []

    def hanging(self) -> bool:
        """Nothing can."""
        return False

    def _pieces(self) -> Iterator[tuple[int, str, bool]]:
        """Number of its line, text, and whether it is a whole payment."""
        if not self._file.exists():
            return
        for number, line in enumerate(self._file.read_text(errors="replace").split("\n"), 1):
            rest = line
            while rest:
                piece, rest, whole = _first(rest)
                yield number, piece, whole


def _first(text: str) -> tuple[str, str, bool]:
    """The first payment of a text or the piece before the next one; and what comes behind it."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        again = text.find(_BEGINS, 1)
        end = again if again > 0 else len(text)
        return text[:end], text[end:], False
    return text[:end], text[end:], record_of(text[:end]) is not None
