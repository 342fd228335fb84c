"""G1c: a cycle of write-read dependencies (Adya's circular information flow).

A `read_committed` reader can read a transaction only after its commit, so two transactions that
read each other would each have been committed first. `read_uncommitted` reads do not count.
"""

from onceproof.checkers.anomalies._cycles import KEY, SENTENCE, steps_of
from onceproof.checkers.cycles import explain
from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="G1c",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "A cycle of write-read dependencies among committed transactions: each read, with "
        "`read_committed`, what the one before it wrote."
    ),
    example="t2 read a, which t1 wrote, and t1 read b, which t2 wrote; both are committed",
    source="Adya G1c; Jepsen, Kafka workload: G1c",
    key=KEY,
    sentence=SENTENCE,
    describe=explain,
    hint=(
        "Records of open transactions reach read_committed readers: the last stable offset "
        "advanced too far, or a marker ended a later transaction (KAFKA-17754)."
    ),
    refutes=("atomic",),
    # Any cycle is also one of the weaker kinds.
    implies=("G1c-process", "G1c-realtime", "G1c-ww"),
    minimal={
        "sends": (
            {"record": "a", "offset": 6, "txn": "t1", "session": "p1"},
            {"record": "b", "partition": 1, "offset": 7, "txn": "t2", "session": "p2"},
        ),
        "txns": (
            {"txn": "t1", "session": "p1"},
            {"txn": "t2", "session": "p2"},
        ),
        "log": (
            {"record": "a", "offset": 6},
            {"record": "b", "partition": 1, "offset": 7},
        ),
        "reads": (
            {"record": "a", "offset": 6, "txn": "t2"},
            {"record": "b", "partition": 1, "offset": 7, "txn": "t1"},
        ),
    },
    sql=steps_of("txn_cycles_g1c"),
)
