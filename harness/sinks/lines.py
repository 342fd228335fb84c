"""A text file to which copies of payments are appended, one per line.

A writer may die in the middle of a line or before its newline, and the next writer appends after
that. So a line may contain several payments and incomplete ones. An incomplete payment is not an
effect; `torn` counts them.
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
_RECORD_START: Final = '{"record"'


class Lines:
    """A file of payments."""

    def __init__(self, file: Path, *, sink: str) -> None:
        """`file` may not exist yet; then it counts as empty."""
        self._file = file
        self.name = sink

    def size(self) -> int:
        return self._file.stat().st_size if self._file.exists() else 0

    def effects(self) -> list[Effect]:
        found: list[Effect] = []
        for number, piece, complete in self._pieces():
            if complete:
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
        """Return the number of incomplete payments."""
        return sum(1 for _, _, complete in self._pieces() if not complete)

    def states(self) -> list[State]:
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        return []

    def hanging(self) -> bool:
        return False

    def _pieces(self) -> Iterator[tuple[int, str, bool]]:
        """Yield line number, text, and whether the text is a complete payment."""
        if not self._file.exists():
            return
        for number, line in enumerate(self._file.read_text(errors="replace").split("\n"), 1):
            rest = line
            while rest:
                piece, rest, complete = _first(rest)
                yield number, piece, complete


def _first(text: str) -> tuple[str, str, bool]:
    """Split off the first payment; return it, the rest, and whether the payment is complete."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        next_record = text.find(_RECORD_START, 1)
        end = next_record if next_record > 0 else len(text)
        return text[:end], text[end:], False
    return text[:end], text[end:], record_of(text[:end]) is not None
