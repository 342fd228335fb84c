"""What a relation is: a derived table with a name, a meaning and one query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Relation:
    """One derived table. `sql` is one SELECT over tables and other relations."""

    name: str
    meaning: str
    sql: str
    stored: bool = True
    """Computed once and kept; else it is only a name for its query, as where every row of a table
    passes through it and none is worth keeping."""
    empty_without: tuple[str, ...] = ()
    """Tables each of which must have rows, or there are none here; those that its rows come from by
    FROM and JOIN need not be named."""
    cycles: frozenset[str] | None = None
    """Where given, the rows of the query are edges, and the relation holds the shortest cycle of
    each strongly connected component that has edges of all these kinds: `checkers.cycles`."""
