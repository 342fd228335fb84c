"""Places of the logs where several records were seen, by their hashes; nearly always none.

A history has one row for each record that somebody saw at a place. Places that only share a hash
are among them: who asks must compare the places.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="contested_places",
    meaning="hashes of log positions that have more than one row",
    sql="""
SELECT hash(l.topic, l."partition", l."offset") AS h
FROM log l
GROUP BY hash(l.topic, l."partition", l."offset")
HAVING count(*) > 1
""",
)
