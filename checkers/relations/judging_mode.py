"""How finely effects can be told apart: one row.

Where every effect carries the position of its input, each position is judged alone, so that a lost
one and a doubled one of the same record cannot cancel out. A subject that claims to drop what was
sent twice may choose which position it takes, so there the record is judged as a whole.
"""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="judging_mode",
    meaning="whether effects are judged per input position or per record",
    sql="""
SELECT count(*) > 0
           AND min(CASE WHEN e.source_offset IS NULL THEN 0 ELSE 1 END) = 1
           AND NOT max(k.deduplicates) AS by_position,
       COALESCE(max(k.deduplicates), FALSE) AS deduplicates
FROM hop_sink k
LEFT JOIN observed_effects e ON TRUE
""",
)
