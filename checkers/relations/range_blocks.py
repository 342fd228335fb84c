"""Blocks of offsets, to look up the committed micro-batches around an offset.

A block has a power of ten offsets. Each range is in at most eleven blocks of the largest size no
longer than itself, and an offset in one block per size, so no offset is compared with all ranges.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="range_blocks",
    meaning="blocks of offsets that each committed range overlaps",
    sql="""
SELECT r.trial, r.owner, r.batch, r."partition", r.start_offset, r.end_offset, r.size,
       UNNEST(generate_series(r.start_offset // r.size, (r.end_offset - 1) // r.size)) AS block
FROM (
    SELECT c.trial, c.owner, c.batch, c."partition", c.start_offset, c.end_offset,
           CAST(power(10, length(CAST(c.end_offset - c.start_offset AS VARCHAR)) - 1) AS BIGINT)
               AS size
    FROM committed_ranges c
    WHERE c.start_offset < c.end_offset
) r
""",
)
