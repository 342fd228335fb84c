"""Records for which a send to any topic was called."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="sent_records",
    meaning="identities of records that were sent anywhere",
    sql="""
SELECT DISTINCT s.record
FROM sends_in_question s
""",
)
