"""What all kinds of outputs have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from onceproof.harness.user_pipeline.identity import Written


class UnreadableOutput(RuntimeError):
    """An output cannot be read; the text says where, and what was found."""


@dataclass(frozen=True, kw_only=True)
class FoundEffect:
    """One message or row of an output.

    Attributes:
        position: where it is; unique in its output.
        log: its log, if a later entry of a key replaces earlier ones; None otherwise.
    """

    written: Written
    position: str
    log: str | None = None


class Source(Protocol):
    """An output that can be read to its end, bypassing the proxies."""

    def size(self) -> int:
        """Return a number that changes with everything that becomes visible; cheap to call."""

    def found(self) -> Iterator[FoundEffect]: ...

    def hanging(self) -> bool:
        """Return whether something in it is still undecided, such as an open transaction."""


def rows(of: Iterable[Mapping[str, Any]], *, place: str) -> Iterator[FoundEffect]:
    """Yield rows, numbered from 1."""
    for number, row in enumerate(of, 1):
        yield FoundEffect(written=as_json(row), position=f"{place} row {number}")


def as_json(row: Mapping[str, Any]) -> Written:
    """Convert a row to JSON, so that the same rules apply to messages and rows."""
    return Written(value=json.dumps(dict(row), default=str, ensure_ascii=False))
