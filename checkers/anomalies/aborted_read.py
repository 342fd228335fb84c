"""aborted-read (G1a): a `read_committed` reader saw a record that was never committed.

The record belongs to an aborted transaction or a send that certainly failed, or the log, collected
after the read, still shows it as uncommitted. A read that cannot be attributed to a send proves
nothing if any send of its record may have happened.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="aborted-read",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "A `read_committed` reader saw a record of an aborted transaction, or of a send that "
        "certainly failed."
    ),
    example=(
        "a was sent in an aborted transaction, and a read_committed reader saw it at input-0@6"
    ),
    source="Adya G1a; Jepsen, Kafka workload: G1a",
    key=("topic", "record", "reader"),
    sentence=(
        "{reader} (read_committed) read {record} at {topic}-{partition}@{offset}, which was never "
        "committed"
    ),
    hint=(
        "A transaction marker was lost or written twice, or a client treats an aborted batch as "
        "committed."
    ),
    headline=Headline(
        rank=12,
        one="{n} record of an aborted transaction was read as committed",
        many="{n} records of aborted transactions were read as committed",
    ),
    refutes=("exactly-once", "atomic"),
    # An uncommitted record that was read was also processed. Or it was committed for that reader
    # and is missing for the next one.
    implies=("lost-write", "precommitted-read", "unfounded-output"),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6, "txn": "t0"},),
        "txns": ({"txn": "t0", "outcome": "aborted"},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6, "committed": False},),
        "reads": ({"attempt": "a/1", "record": "a", "offset": 6},),
    },
    sql="""
SELECT r.trial, r.topic, r.record, r.reader, r.session, r.ordinal, r."partition", r."offset",
       r.named AS attempt
FROM (
    SELECT r.*, a.may AS named_may, v.may AS any_may
    FROM read_origins r
    LEFT JOIN attempts a ON a.attempt = r.named
    LEFT JOIN (
        SELECT topic, record, max(may) AS may
        FROM attempts
        GROUP BY topic, record
    ) v ON v.topic = r.topic AND v.record = r.record
    WHERE r.isolation = 'read_committed'
) r
LEFT JOIN log l ON l.topic = r.topic AND l."partition" = r."partition" AND l."offset" = r."offset"
               AND l.kind = 'data' AND l.record = r.record AND NOT l.committed
WHERE NOT r.named_may OR NOT r.any_may OR (r.logged_later AND l.topic IS NOT NULL)
""",
    mutations=(
        Mutator(
            name="committed entry that was read un-committed",
            table="log",
            key=("topic", "record", "reader"),
            kind="reads",
            change=changes.uncommit_entry,
            needs="""
SELECT r.trial
FROM read_origins r
WHERE r.isolation = 'read_committed' AND r.logged_later""",
            targets="""
SELECT r.trial, r.topic, r.record, r.reader, r."partition", r."offset"
FROM read_origins r
JOIN committed_input c ON c.trial = r.trial AND c."partition" = r."partition"
                      AND c."offset" = r."offset" AND c.record = r.record
WHERE r.isolation = 'read_committed' AND r.logged_later""",
        ),
    ),
)
