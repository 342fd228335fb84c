"""A finished world: its rows and its trials.

Mutations change the rows, so copy a world first if its original rows are needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.properties.checkers.world.rows import Rows


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One topic and one view of a sink."""

    topic: str
    sink: str
    view: str
    dead_letters: str | None = None
    deduplicates: bool = False
    others: tuple[tuple[str, str], ...] = ()
    """Sink and view of each output that is claimed to be atomic with this one."""


@dataclass(frozen=True, kw_only=True)
class World:
    """A world's history and its trials."""

    rows: Rows
    trials: tuple[Trial, ...]

    def copy(self) -> World:
        """A copy whose rows can be changed independently."""
        rows = {name: [dict(row) for row in table] for name, table in self.rows.items()}
        return World(rows=rows, trials=self.trials)

    @property
    def topics(self) -> list[str]:
        """The distinct input topics of its trials."""
        return list(dict.fromkeys(trial.topic for trial in self.trials))
