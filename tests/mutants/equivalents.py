"""Mutants that are listed because they change nothing, each with the reason.

The list is in `equivalent/`, a file for each part. An entry names mutants by
pattern (`*` stands for anything). One that no surviving mutant has any more is an error, so that no
excuse outlives its cause.
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
    """Mutants that mean what the original means."""

    reason: str
    mutants: tuple[str, ...]
    """Patterns of their names."""


@cache
def listed(folder: Path = LISTS) -> tuple[Equivalent, ...]:
    """All entries of a folder's lists.

    Raises:
        ValueError: an entry gives no reason, or a pattern is there twice.
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
    """Whether a mutant is listed."""
    return any(_fits(mutant, pattern) for entry in entries for pattern in entry.mutants)


def outlived(survivors: Iterable[str], entries: Sequence[Equivalent]) -> list[str]:
    """Patterns that no survivor fits."""
    survivors = list(survivors)
    return [
        pattern
        for entry in entries
        for pattern in entry.mutants
        if not any(_fits(mutant, pattern) for mutant in survivors)
    ]


def _fits(mutant: str, pattern: str) -> bool:
    return mutant == pattern or fnmatchcase(mutant, pattern.replace("[", "[[]"))
