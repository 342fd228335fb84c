"""Entries of the inputs' logs that match no attempt to send their record.

An entry with an attempt id is compared with that attempt, one without must match any attempt of its
record. NULL matches everything. An entry in a partition other than the acknowledged one counts only
if the attempt has none in the acknowledged one; otherwise it is a duplicate.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="corrupt_entries",
    meaning=(
        "entries of the inputs' logs that differ from every send in content, key, topic or "
        "partition"
    ),
    sql="""
SELECT d.trial, d.topic, d."partition", d."offset", d.record, d.attempt, d.committed,
       min(d.differs) AS differs, min(d.sent_digest) AS sent_digest, d.digest,
       min(d.sent_key) AS sent_key, d.key,
       min(d.sent_topic) AS sent_topic, min(d.sent_partition) AS sent_partition
FROM (
    SELECT c.*,
           CASE WHEN c.sent_topic <> c.topic THEN ' topic' ELSE '' END
           || CASE WHEN c.sent_topic = c.topic AND c.at_home = 0
                        AND c.acknowledged AND c.sent_partition <> c."partition"
                   THEN ' partition' ELSE '' END
           || CASE WHEN c.sent_key <> c.key THEN ' key' ELSE '' END
           || CASE WHEN c.sent_digest <> c.digest THEN ' digest' ELSE '' END AS differs
    FROM (
        SELECT e.trial, e.topic, e."partition", e."offset", e.record, e.attempt_read AS attempt,
               e.committed, e.key, e.digest,
               s.topic AS sent_topic, s."partition" AS sent_partition, s.key AS sent_key,
               s.digest AS sent_digest, s.outcome = 'ok' AS acknowledged,
               max(CASE WHEN s."partition" = e."partition" AND e.committed THEN 1 ELSE 0 END)
                   OVER (PARTITION BY e.trial, s.attempt) AS at_home
        FROM input_entries e
        LEFT JOIN sends_in_question known
               ON known.attempt = e.attempt_read AND known.record = e.record
        JOIN sends_in_question s ON s.record = e.record
                                AND s.attempt = COALESCE(known.attempt, s.attempt)
    ) c
) d
GROUP BY d.trial, d.topic, d."partition", d."offset", d.record, d.attempt, d.committed, d.digest,
         d.key
HAVING min(d.differs) <> ''
""",
)
