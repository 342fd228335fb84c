"""Mutants that are listed as equivalent, each with the reason.

The lists are in `equivalent/`, a file for each part. An entry names mutants by pattern (`*` matches
anything). A pattern that matches no survivor is an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

LISTS: Final = Path(__file__).with_name("equivalent")


@dataclass(frozen=True, kw_only=True)
class Equivalent:
    """Mutants that mean the same as the original, for one reason."""

    reason: str
    mutants: tuple[str, ...]
    """Patterns of their names."""


@cache
def listed(folder: Path = LISTS) -> tuple[Equivalent, ...]:
    """All entries of a folder's lists.

    Raises:
        ValueError: an entry gives no reason, or a pattern is duplicated.
    """
    entries = tuple(
        Equivalent(reason=entry["reason"].strip(), mutants=tuple(entry["mutants"]))
        for path in sorted(folder.glob("*.toml"))
        for entry in tomllib.loads(path.read_text()).get("equivalent", ())
    )
    patterns = [pattern for entry in entries for pattern in entry.mutants]
    for pattern in patterns:
        if patterns.count(pattern) > 1:
            raise ValueError(f"{folder.name}: {pattern!r} is there twice. Leave one.")
    for entry in entries:
        if len(entry.reason.split()) < 5:
            raise ValueError(f"{folder.name}: {entry.mutants}: say why they change nothing.")
    return entries


def is_listed(mutant: str, entries: Sequence[Equivalent]) -> bool:
    return any(_matches(mutant, pattern) for entry in entries for pattern in entry.mutants)


def stale_patterns(survivors: Iterable[str], entries: Sequence[Equivalent]) -> list[str]:
    """Patterns that match no survivor."""
    survivors = list(survivors)
    return [
        pattern
        for entry in entries
        for pattern in entry.mutants
        if not any(_matches(mutant, pattern) for mutant in survivors)
    ]


def _matches(mutant: str, pattern: str) -> bool:
    return mutant == pattern or fnmatchcase(mutant, pattern.replace("[", "[[]"))
