"""The definition of a relation: a derived table with a name, a meaning and one query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Relation:
    """One derived table. `sql` is one SELECT over tables and other relations."""

    name: str
    meaning: str
    sql: str
    stored: bool = True
    """Compute it once and keep it. False if all rows of a table pass through it, so that only
    the query gets a name."""
    empty_without: tuple[str, ...] = ()
    """Tables that must have rows for the relation to have any, besides those in FROM and JOIN."""
    cycles: frozenset[str] | None = None
    """If given, the query returns edges, and the relation holds the shortest cycle of each
    strongly connected component with edges of all these kinds, see `checkers.cycles`."""
