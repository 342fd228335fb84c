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
        "A cycle of write-read dependencies, the order of sessions and real time, with at least "
        "one dependency and one step in time."
    ),
    example="t1 ended at 2 and t2 began at 3, by the same clock; t1 read b, which t2 wrote",
    source="Adya G1c with real-time order; Jepsen, Kafka workload: G1c-realtime",
    key=KEY,
    sentence=SENTENCE,
    describe=explain,
    hint=(
        "Like precommitted-read, over several transactions: something that was committed later "
        "could be read earlier. Look first whether the clock is one clock."
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
