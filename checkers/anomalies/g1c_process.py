"""G1c-process: a cycle of write-read dependencies and the transaction order of a session.

A producer has one transaction at a time. So what its next transaction writes cannot have been read
by the previous one, nor by any that the previous one read from. Elle calls this `-process`.
"""

from onceproof.checkers.anomalies._cycles import KEY, SENTENCE, steps_of
from onceproof.checkers.cycles import explain
from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="G1c-process",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "A cycle of write-read dependencies and session order (the order of one session's "
        "transactions), with at least one of each."
    ),
    example="one session committed t1 and then t2; t1 read b, which t2 wrote",
    source="Adya G1c with process order; Jepsen, Kafka workload: G1c-process",
    key=KEY,
    sentence=SENTENCE,
    describe=explain,
    hint=(
        "Records or reads of one transaction are attributed to another: a producer was not fenced, "
        "or a commit ended the next transaction (KAFKA-17754)."
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
