"""The histories that mutants are judged on, in batches, the most effective first.

Hand-written samples and the anomalies' own examples come first and catch nearly all mutants. Then
come nonsense, where everything happens at once, and correct and mutated histories, drawn as
`make agree` draws them.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.anomalies import anomalies
from tests.mutants.nonsense import nonsense
from tests.properties.checkers.cases import Case
from tests.properties.checkers.corpus import samples
from tests.properties.checkers.corpus.base import LEDGER, world_of
from tests.properties.checkers.world import World

DRAWN: Final = 6
NONSENSE: Final = range(1, 3)
"""The batches of nonsense."""
BATCH: Final = 250
"""Number of histories in a drawn batch."""
EXAMPLES_ALONE: Final = (
    "skipped-read",
    "G0",
    "G1c",
    "G1c-realtime",
    "lost-write",
)
"""Anomalies whose example catches more without other trials and transactions beside it."""
ALONE: Final = (
    *(world_of([LEDGER], anomalies()[name].minimal) for name in EXAMPLES_ALONE),
    *(sample.world for sample in samples() if sample.alone),
)
"""Histories that are a batch each, after all others."""
BATCHES: Final = DRAWN + len(ALONE)


def batch(number: int) -> list[World]:
    """The histories of a batch; batch 0 is written by hand."""
    if not number:
        smallest = [world_of([LEDGER], a.minimal) for a in anomalies().values()]
        return smallest + [sample.world for sample in samples()]
    seeds = range(number * BATCH, (number + 1) * BATCH)
    if number >= DRAWN:
        return [ALONE[number - DRAWN]]
    if number in NONSENSE:
        return [nonsense(seed) for seed in seeds]
    toward = (None, *anomalies())
    return [Case.of(seed, toward[seed % len(toward)]).world for seed in seeds]
