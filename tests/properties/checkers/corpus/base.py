"""What a hand-written history consists of: a few rows, its trials, and the expected findings.

Rows are as short as for `History.of`; missing columns get default values. A finding is named by
as much of its key as is needed to identify it.
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

    title: str
    """What distinguishes it, used as its test id."""
    world: World
    finds: Keys
    """Anomaly → partial key of each finding; no other findings are expected."""
    undecided: frozenset[str]
    """Anomalies that are undecidable on some trial."""
    alone: bool = False
    """Whether it must be judged separately from other histories to be effective."""


def sample(
    title: str,
    *,
    finds: Keys | None = None,
    undecided: Iterable[str] = (),
    alone: bool = False,
    trials: Sequence[Trial] = (LEDGER,),
    phases: Sequence[Row] = DONE,
    **tables: Sequence[Row],
) -> Sample:
    """A history of these rows, by default settled and collected to the end."""
    return Sample(
        title=title,
        world=world_of(trials, {**tables, "phases": phases}),
        finds=finds or {},
        undecided=frozenset(undecided),
        alone=alone,
    )


def world_of(trials: Sequence[Trial], tables: Mapping[str, Sequence[Row]]) -> World:
    """A world made of abbreviated rows."""
    rows: dict[str, list[dict[str, Any]]] = {
        name: [new(name, **filled(name, row, n)) for n, row in enumerate(tables.get(name, ()))]
        for name in TABLES
    }
    return World(rows=rows, trials=tuple(trials))
