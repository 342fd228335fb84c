"""G0: a cycle of write-write dependencies (Adya's write cycle).

Kafka allows it, so it refutes nothing: a transaction's records become visible together, but other
transactions may write between them while it is open. It is reported because serializable writes, as
in a database, would exclude it.
"""

from onceproof.checkers.anomalies._cycles import KEY, SENTENCE, steps_of
from onceproof.checkers.cycles import explain
from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="G0",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "A cycle of write-write dependencies among committed transactions: each wrote to a "
        "partition directly after the one before it. Kafka allows this, so it is only reported."
    ),
    example="t1 wrote a at input-0@6 and c at 8; t2 wrote b between them, at 7",
    source="Adya G0; Jepsen, Kafka workload: G0",
    key=KEY,
    sentence=SENTENCE,
    describe=explain,
    hint=(
        "Nothing is broken: concurrent transactions wrote to the same partition. If their order "
        "matters, let one producer write each partition."
    ),
    shown_with=("atomic",),
    implies=("G1c-ww",),
    minimal={
        "sends": (
            {"record": "a", "offset": 6, "txn": "t1", "session": "p1"},
            {"record": "b", "offset": 7, "txn": "t2", "session": "p2"},
            {"record": "c", "offset": 8, "txn": "t1", "session": "p1"},
        ),
        "txns": (
            {"txn": "t1", "session": "p1"},
            {"txn": "t2", "session": "p2"},
        ),
        "log": (
            {"record": "a", "offset": 6},
            {"record": "b", "offset": 7},
            {"record": "c", "offset": 8},
        ),
    },
    sql=steps_of("txn_cycles_g0"),
)
