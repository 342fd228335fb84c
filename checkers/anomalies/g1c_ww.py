"""G1c-ww: a cycle of write-read and write-write dependencies, with at least one of each.

Kafka allows it, so it refutes nothing: an entry gets its offset when it is written, but its
transaction may be committed, and read, before one that wrote earlier.
"""

from onceproof.checkers.anomalies._cycles import KEY, SENTENCE, steps_of
from onceproof.checkers.cycles import explain
from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="G1c-ww",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "A cycle of write-read and write-write dependencies among committed transactions, with at "
        "least one of each. Kafka allows this, so it is only reported."
    ),
    example="t2 wrote b at input-0@7, right after a of t1 at 6; t1 read b",
    source="Adya G1c; Jepsen, Kafka workload: G1c with write-write edges",
    key=KEY,
    sentence=SENTENCE,
    describe=explain,
    hint=(
        "Nothing is broken: Kafka does not isolate transactions from other writers. If you need "
        "isolation, let one producer write each partition."
    ),
    shown_with=("atomic",),
    minimal={
        "sends": (
            {"record": "a", "offset": 6, "txn": "t1", "session": "p1"},
            {"record": "b", "offset": 7, "txn": "t2", "session": "p2"},
        ),
        "txns": (
            {"txn": "t1", "session": "p1"},
            {"txn": "t2", "session": "p2"},
        ),
        "log": (
            {"record": "a", "offset": 6},
            {"record": "b", "offset": 7},
        ),
        "reads": ({"record": "b", "offset": 7, "txn": "t1"},),
    },
    sql=steps_of("txn_cycles_g1c_ww"),
)
