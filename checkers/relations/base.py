"""What a relation is: a derived table with a name, a meaning and one query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Relation:
    """One derived table. `sql` is one SELECT over tables and other relations."""

    name: str
    meaning: str
    sql: str
