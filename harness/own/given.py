"""Records of a user's file: JSON Lines, CSV with a header, or Parquet.

The one thing to know: a line of JSON is sent as it stands; a row of the others is sent as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.own.identity import BadRule, Written
from harness.own.outputs.base import UnreadableOutput
from harness.own.outputs.folder import FORMATS

_ENDS: Final = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv"} | {
    ".parquet": "parquet"
}


@dataclass(frozen=True, kw_only=True)
class Given:
    """One record to be sent."""

    identity: str
    key: str
    value: str


def given(file: Path) -> Iterator[tuple[Written, str]]:
    """What a file holds, each with the place where it stands.

    Raises:
        BadRule: it is of no format that is known, or cannot be read.
    """
    format_ = _ENDS.get(file.suffix.lower())
    if format_ is None:
        raise BadRule(f"{file}: expected a name that ends with {', '.join(_ENDS)}")
    try:
        for found in FORMATS[format_](file, file.name):
            value = (found.written.value or "").rstrip("\r\n")
            yield Written(value=value), found.position
    except (UnreadableOutput, OSError) as error:
        raise BadRule(f"{file}: {error}") from error


def count(file: Path) -> int:
    """How many records a file has.

    Raises:
        BadRule: as of `given`.
    """
    return sum(1 for _ in given(file))
