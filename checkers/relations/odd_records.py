"""Records with a print that is not one pair, and those of the self-proof's sample."""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="odd_records",
    meaning="hashes of records with an odd print",
    sql="""
SELECT p.h
FROM send_prints p
JOIN odd_sends o ON o.print = p.print
UNION
SELECT p.h
FROM effect_prints p
JOIN odd_effects o ON o.print = p.print
UNION
SELECT p.h
FROM content_prints p
JOIN odd_contents o ON o.print = p.print
UNION
SELECT hash(r.record) AS h
FROM sampled r
""",
)
