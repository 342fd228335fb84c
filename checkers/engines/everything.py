"""Replace the relation `suspects`, the screen, so that every record is compared in full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onceproof.checkers.relations.base import Relation

_SUSPECTS: Final = Relation(
    name="suspects",
    meaning="hashes of all records: all are compared in full",
    sql="""
SELECT hash(s.record) AS h
FROM sends s
UNION
SELECT hash(l.record) AS h
FROM log l
WHERE l.record IS NOT NULL
UNION
SELECT hash(e.record) AS h
FROM sink_effects e
UNION
SELECT hash(x.record) AS h
FROM expected x
""",
)


def without_screen(queries: Mapping[str, Relation]) -> dict[str, Relation]:
    """Return the queries with all records as suspects."""
    return {**queries, _SUSPECTS.name: _SUSPECTS}
