"""G1c-realtime: a cycle of write-read dependencies and the real-time order of transactions.

A transaction that ended before another began, by the same clock, cannot have read from it, nor from
any that read from it. Elle calls this `-realtime`.
"""

from onceproof.checkers.anomalies._cycles import KEY, SENTENCE, steps_of
from onceproof.checkers.cycles import explain
from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="G1c-realtime",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "A cycle of write-read dependencies, session order and real-time order, with at least one "
        "dependency and one real-time step."
    ),
    example="t1 ended at 2 and t2 began at 3, on the same clock; t1 read b, which t2 wrote",
    source="Adya G1c with real-time order; Jepsen, Kafka workload: G1c-realtime",
    key=KEY,
    sentence=SENTENCE,
    describe=explain,
    hint=(
        "As in precommitted-read, but across several transactions: a record could be read before "
        "it was committed. First check that all times are from the same clock."
    ),
    refutes=("atomic",),
    minimal={
        "sends": (
            {"record": "a", "offset": 6, "txn": "t1", "session": "p1"},
            {"record": "b", "partition": 1, "offset": 7, "txn": "t2", "session": "p2"},
        ),
        "txns": (
            {"txn": "t1", "session": "p1", "began_at": 1, "ended_at": 2},
            {"txn": "t2", "session": "p2", "began_at": 3, "ended_at": 4},
        ),
        "log": (
            {"record": "a", "offset": 6},
            {"record": "b", "partition": 1, "offset": 7},
        ),
        "reads": ({"record": "b", "partition": 1, "offset": 7, "txn": "t1", "at": 1},),
    },
    sql=steps_of("txn_cycles_g1c_realtime"),
)
