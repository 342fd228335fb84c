"""repeated-read: a reader goes back without an assignment change."""

from onceproof.checkers.model import Anomaly, Evidence, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="repeated-read",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition="A reader goes back in a partition without an assignment change.",
    example="one session read 6, then 7, then 6 again",
    source="Jepsen, Kafka workload: nonmonotonic-poll",
    key=("topic", "partition", "reader", "session", "ordinal"),
    sentence=(
        "{reader} read {topic}-{partition}@{offset}, although its session had already reached "
        "{reached}"
    ),
    hint="The fetch position was reset after an error to a committed offset that lags behind.",
    refutes=("ordered",),
    implies=("skipped-read",),
    minimal={
        "log": (
            {"record": "a", "offset": 6},
            {"record": "b", "offset": 7},
        ),
        "reads": (
            {"record": "a", "offset": 6},
            {"record": "b", "offset": 7},
            {"record": "a", "offset": 6},
        ),
    },
    sql="""
SELECT p.trial, p.topic, p."partition", p.reader, p.session, p.ordinal, p.record, p."offset",
       p.read_before AS reached
FROM read_progress p
WHERE p."offset" <= p.read_before
""",
    mutations=(
        Mutator(
            name="read repeated",
            table="reads",
            key=("topic", "partition", "reader", "session", "ordinal"),
            kind="repeat",
            change=changes.repeat_read,
            needs="SELECT p.trial FROM read_progress p WHERE p.record IS NOT NULL",
            targets="""
SELECT p.trial, p.topic, p."partition", p.reader, p.session, min(p.record) AS record,
       min(p.ordinal) AS first, max(p.ordinal) + 1 AS ordinal
FROM read_progress p
WHERE p.record IS NOT NULL
GROUP BY p.trial, p.topic, p."partition", p.reader, p.session""",
        ),
    ),
)
