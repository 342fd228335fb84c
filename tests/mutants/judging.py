"""Judges all mutants on the whole corpus, in several processes.

Each process builds each batch of the corpus when a mutant first needs it; the first batch catches
most mutants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Final

from tests.mutants.corpus import BATCHES, batch
from tests.mutants.kill import Fate, Suite
from tests.mutants.operators import Mutant, mutants
from tests.mutants.queries import queries

PORTION: Final = 20
"""Number of mutants that a process takes at once."""


def all_mutants(part: str = "") -> list[Mutant]:
    """The mutants of every query whose name contains `part`."""
    return [
        mutant
        for name, relation in queries().items()
        if part in name
        for mutant in mutants(name, relation.sql)
    ]


def judged(todo: Sequence[Mutant], processes: int) -> Iterator[tuple[Mutant, Fate]]:
    """Yield mutants with their fates, in order."""
    portions = [todo[i : i + PORTION] for i in range(0, len(todo), PORTION)]
    with ProcessPoolExecutor(processes) as pool:
        for portion, found in zip(portions, pool.map(_fates, portions), strict=True):
            yield from zip(portion, found, strict=True)


def fate(mutant: Mutant) -> Fate:
    """The fate of a mutant on the whole corpus."""
    found = Fate()
    for number in range(BATCHES):
        found = found.and_then(_suite(number).fate(mutant))
        if not found.survived:
            break
    return found


def _fates(some: Sequence[Mutant]) -> list[Fate]:
    return [fate(mutant) for mutant in some]


@cache
def _suite(number: int) -> Suite:
    return Suite(batch(number))
