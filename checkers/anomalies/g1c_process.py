"""G1c-process: a cycle of write-read dependencies and the order of transactions in a session.

One producer has one transaction at a time. What its next transaction writes cannot have been read
by the one before it, nor by any that the one before it read from.

    sends: a in t1, then b in t2, one session       reads, read_committed: t1 reads b
    → G1c-process t1 → t2 → t1

Source: Adya's G1c with the order of processes; Jepsen's Kafka workload (Elle's `-process`).
"""

from onceproof.checkers.anomalies._cycles import KEY, SENTENCE, steps_of
from onceproof.checkers.cycles import explain
from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="G1c-process",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "A cycle of write-read dependencies and the order of one session's transactions, with "
        "at least one of each."
    ),
    example="one session committed t1 and then t2; t1 read b, which t2 wrote",
    source="Adya G1c with process order; Jepsen, Kafka workload: G1c-process",
    key=KEY,
    sentence=SENTENCE,
    describe=explain,
    hint=(
        "A transaction's records or reads are booked on another one: a producer that was not "
        "fenced, or a commit that ended the next transaction (KAFKA-17754)."
    ),
    refutes=("atomic",),
    implies=("G1c-realtime",),
    minimal={
        "sends": (
            {"record": "a", "offset": 6, "txn": "t1"},
            {"record": "b", "partition": 1, "offset": 7, "txn": "t2"},
        ),
        "txns": (
            {"txn": "t1"},
            {"txn": "t2"},
        ),
        "log": (
            {"record": "a", "offset": 6},
            {"record": "b", "partition": 1, "offset": 7},
        ),
        "reads": ({"record": "b", "partition": 1, "offset": 7, "txn": "t1"},),
    },
    sql=steps_of("txn_cycles_g1c_process"),
)
