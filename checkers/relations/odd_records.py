"""Records with an unpaired hash, and those of the mutation self-check's sample."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="odd_records",
    meaning="hashes of records with an unpaired hash",
    sql="""
SELECT o.one AS h
FROM odd_sends o
UNION
SELECT o.other AS h
FROM odd_sends o
UNION
SELECT o.one AS h
FROM odd_effects o
UNION
SELECT o.other AS h
FROM odd_effects o
UNION
SELECT o.one AS h
FROM odd_contents o
UNION
SELECT o.other AS h
FROM odd_contents o
UNION
SELECT hash(r.record) AS h
FROM sampled r
""",
)
