"""hanging-transaction: a transaction is still open after settling.

The last stable offset stays below the high watermark, and `read_committed` consumers wait forever.
In a run that never settled, an open transaction is normal.
"""

from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="hanging-transaction",
    hop=Hop.PRODUCE,
    evidence=Evidence.LIVENESS,
    definition="A transaction is still open after settling: last stable offset < high watermark.",
    example="input-0 has last stable offset 5 and high watermark 9",
    source="KIP-664, KAFKA-14402",
    key=("topic", "partition"),
    sentence=(
        "a transaction hangs in {topic}-{partition}: last stable offset {last_stable_offset}, "
        "high watermark {high_watermark}"
    ),
    hint=(
        "Neither the producer nor the coordinator ended the transaction. List the partition's open "
        "producers with kafka-transactions.sh."
    ),
    # `read_committed` consumers wait behind it.
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
