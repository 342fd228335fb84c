"""What every kind of output has in common: things that were written, each with its place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from onceproof.harness.user_pipeline.identity import Written


class UnreadableOutput(RuntimeError):
    """What a pipeline wrote cannot be read; the text says where and what was found."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """One thing in an output.

    Attributes:
        written: what it says.
        position: where it stands; unique in its output.
        log: names the log in which it stands, where what comes later takes the place of what stood
            there before with its key; None: it has a place of its own.
    """

    written: Written
    position: str
    log: str | None = None


class Source(Protocol):
    """An output that can be read to its end, past all proxies."""

    def size(self) -> int:
        """A number that changes with everything that becomes visible; cheap to ask for."""

    def found(self) -> Iterator[Found]:
        """Everything in it, in its own order."""

    def hanging(self) -> bool:
        """Whether something in it is still undecided."""


def rows(of: Iterable[Mapping[str, Any]], *, place: str) -> Iterator[Found]:
    """Rows as what was found, numbered from 1."""
    for number, row in enumerate(of, 1):
        yield Found(written=as_json(row), position=f"{place} row {number}")


def as_json(row: Mapping[str, Any]) -> Written:
    """A row as JSON, so that one rule fits messages and rows."""
    return Written(value=json.dumps(dict(row), default=str, ensure_ascii=False))
