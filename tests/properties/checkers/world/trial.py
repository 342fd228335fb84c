"""A world that is done: its rows, and what of it is on trial.

Rows may be changed (that is what mutations do), so whoever needs them untouched
takes a copy first.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.properties.checkers.world.rows import Rows


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One stretch from a topic to one view of a sink."""

    topic: str
    sink: str
    view: str
    dead_letters: str | None = None
    deduplicates: bool = False
    others: tuple[tuple[str, str], ...] = ()
    """Sink and view of each output that is claimed to be atomic with this one."""


@dataclass(frozen=True, kw_only=True)
class World:
    """One world's history, and the stretches that are judged."""

    rows: Rows
    trials: tuple[Trial, ...]

    def copy(self) -> World:
        """The same world, to be changed without changing this one."""
        rows = {name: [dict(row) for row in table] for name, table in self.rows.items()}
        return World(rows=rows, trials=self.trials)

    @property
    def topics(self) -> list[str]:
        """The input topics on trial, each once."""
        return list(dict.fromkeys(trial.topic for trial in self.trials))
