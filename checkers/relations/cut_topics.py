"""Inputs of which a part was deleted or compacted, so that absence from the log proves nothing."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="cut_topics",
    meaning="inputs with a cut partition",
    sql="""
SELECT DISTINCT c.trial, c.topic
FROM cut_partitions c
""",
)
