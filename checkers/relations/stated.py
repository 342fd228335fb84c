"""Sinks that are judged record by record and of which it is stated what each record yields."""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="stated",
    meaning="trials whose sink has rows in `expected`",
    sql="""
SELECT k.trial
FROM (SELECT DISTINCT x.sink FROM expected x) s
JOIN outputs k ON k.sink = s.sink
LEFT JOIN by_state b ON b.trial = k.trial
WHERE b.trial IS NULL
""",
)
