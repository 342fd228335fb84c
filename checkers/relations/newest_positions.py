"""The newest position of each owner in each partition.

A position that the harness set and the subject has not moved since says nothing about the subject.
`furthest` marks the owner ahead of all others in its role and partition.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="newest_positions",
    meaning="the newest done position per owner, role and partition, if the subject wrote it",
    sql="""
SELECT d.trial, d.owner, d.role, d.topic, d."partition", d."offset", d.batch, d.ordinal,
       row_number() OVER (
           PARTITION BY d.trial, d.role, d."partition" ORDER BY d."offset" DESC, d.owner
       ) = 1 AS furthest
FROM done_positions d
WHERE d.newest AND d."by" = 'subject'
""",
)
