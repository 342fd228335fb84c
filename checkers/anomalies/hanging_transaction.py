"""hanging-transaction: after settling a transaction is still open.

The last stable offset stays behind the high watermark, and readers of committed records wait for
ever. In a run that never came to settle, an open transaction is nothing unusual.

    partitions: input-0, last stable offset 5, high watermark 9
    → hanging-transaction in input-0

Source: KIP-664, KAFKA-14402.
"""

from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="hanging-transaction",
    hop=Hop.PRODUCE,
    evidence=Evidence.LIVENESS,
    definition="After settling a transaction is still open: last stable offset < high watermark.",
    example="input-0 has last stable offset 5 and high watermark 9",
    source="KIP-664, KAFKA-14402",
    key=("topic", "partition"),
    sentence=(
        "a transaction hangs in {topic}-{partition}: last stable offset {last_stable_offset}, "
        "high watermark {high_watermark}"
    ),
    hint=(
        "A transaction that neither its producer nor the coordinator ended: see the partition's "
        "open producers with kafka-transactions.sh."
    ),
    # Committed readers wait behind it.
    implies=("no-progress", "unseen"),
    minimal={
        "log": ({"record": "a", "offset": 5, "committed": False},),
        "partitions": ({"topic": "input", "last_stable_offset": 5, "high_watermark": 6},),
        "phases": ({"phase": "settle", "outcome": "ok"},),
    },
    sql="""
SELECT 0 AS trial, p.topic, p."partition", p.last_stable_offset, p.high_watermark
FROM partitions p
JOIN settled s ON s.topic = p.topic
WHERE p.last_stable_offset < p.high_watermark
""",
)
