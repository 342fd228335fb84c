"""What a hand-written history is: a few rows, what is on trial, and what must be found.

Rows are as terse as for `History.of`; what is not said is the dullest there
is. Findings are named by as much of their key as it takes to tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from onceproof.checkers.history_rows import filled
from onceproof.checkers.model import Row, Value
from onceproof.checkers.tables import TABLES
from tests.properties.checkers.world import Trial, World, new

LEDGER: Final = Trial(topic="input", sink="ledger", view="table")
JOURNAL: Final = Trial(topic="input", sink="ledger", view="journal")
ONCE: Final = Trial(topic="input", sink="ledger", view="table", deduplicates=True)
LETTERS: Final = Trial(topic="input", sink="ledger", view="table", dead_letters="letters")

DONE: Final = ({"phase": "settle", "outcome": "ok"}, {"phase": "collect", "outcome": "ok"})
CUT_SHORT: Final = ({"phase": "settle", "outcome": "ok"}, {"phase": "collect", "outcome": "failed"})

Keys = Mapping[str, Sequence[Mapping[str, Value]]]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One history of a few rows."""

    tells: str
    """What it tells apart, in a sentence."""
    world: World
    finds: Keys
    """Anomaly → as much of the key of each finding as it takes; what is not here is not found."""
    undecided: frozenset[str]
    """Anomalies that cannot be decided on some trial."""
    alone: bool = False
    """What it tells shows only where no other history is beside it."""


def sample(
    tells: str,
    *,
    finds: Keys | None = None,
    undecided: Iterable[str] = (),
    alone: bool = False,
    trials: Sequence[Trial] = (LEDGER,),
    phases: Sequence[Row] = DONE,
    **tables: Sequence[Row],
) -> Sample:
    """A history of these rows, settled and collected to the end if nothing else is said."""
    return Sample(
        tells=tells,
        world=world_of(trials, {**tables, "phases": phases}),
        finds=finds or {},
        undecided=frozenset(undecided),
        alone=alone,
    )


def world_of(trials: Sequence[Trial], tables: Mapping[str, Sequence[Row]]) -> World:
    """A world of terse rows."""
    rows: dict[str, list[dict[str, Any]]] = {
        name: [new(name, **filled(name, row, n)) for n, row in enumerate(tables.get(name, ()))]
        for name in TABLES
    }
    return World(rows=rows, trials=tuple(trials))
