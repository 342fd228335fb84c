"""Input offsets that were seen with more than one record."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="position_conflicts",
    meaning="positions with two records",
    sql="""
SELECT c.trial, c.topic, c."partition", c."offset", count(*) AS records
FROM position_claims c
GROUP BY c.trial, c.topic, c."partition", c."offset"
HAVING count(*) > 1
""",
)
