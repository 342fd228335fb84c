"""Input partitions with entries deleted by retention or compaction: undecided, not lost."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="cut_partitions",
    meaning="partitions of the inputs that are compacted or whose beginning was deleted",
    sql="""
SELECT i.trial, p.topic, p."partition", p.log_start,
       p.cleanup_policy LIKE '%compact%' AS compacted
FROM partitions p
JOIN inputs i ON i.topic = p.topic
WHERE p.log_start > 0 OR p.cleanup_policy LIKE '%compact%'
""",
)
