"""state-mismatch: a value in the final state differs from what the committed inputs yield.

Values are sums, counts, windows or the last value of a key, compared exactly. Missing and
unexpected values count as well. It shows processing twice where no effect carries an identity.
"""

from collections.abc import Sequence

from onceproof.checkers.content_differences import differences
from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop, Row
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

_SENTENCE = (
    "{aggregate} of {state_key} in {sink} is {found}, but the committed inputs yield {wanted}"
)


def _describe(rows: Sequence[Row]) -> str:
    row = rows[0]
    fields = differences(row["expected_digest"], row["digest"])
    place = "{aggregate} of {state_key} in {sink}".format_map(row)
    return f"{place} differs: {fields}" if fields else _SENTENCE.format_map(row)


ANOMALY = Anomaly(
    name="state-mismatch",
    hop=Hop.PROCESS,
    evidence=Evidence.ABSENCE,
    definition=(
        "A sum, count, window or last value in the final state differs from what the committed "
        "inputs yield."
    ),
    example="a and b each add 5 to the balance of k; the ledger has 15",
    source="exactly-once as stream processors define it: the effect on state",
    key=("sink", "view", "state_key", "aggregate"),
    sentence=_SENTENCE,
    describe=_describe,
    hint=(
        "State and position were not committed together, so an input was added twice or not at all."
    ),
    headline=Headline(
        rank=6,
        one="{n} result in {sink} differs from what the input yields",
        many="{n} results in {sink} differ from what the input yields",
    ),
    refutes=("exactly-once",),
    minimal={
        "sends": (
            {"attempt": "a/1", "record": "a", "offset": 6},
            {"attempt": "b/1", "record": "b", "offset": 7},
        ),
        "log": (
            {"attempt": "a/1", "record": "a", "offset": 6},
            {"attempt": "b/1", "record": "b", "offset": 7},
        ),
        "contributions": (
            {
                "record": "a",
                "state_key": "k",
                "aggregate": "balance",
                "operation": "sum",
                "amount": 5,
            },
            {
                "record": "b",
                "state_key": "k",
                "aggregate": "balance",
                "operation": "sum",
                "amount": 5,
            },
        ),
        "state": ({"state_key": "k", "aggregate": "balance", "amount": 15},),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql="""
SELECT k.trial, k.sink, k.view, m.state_key, m.aggregate, m.operation, m.expected_amount, m.amount,
       m.expected_digest, m.digest,
       COALESCE(CAST(m.amount AS VARCHAR), m.digest, 'absent') AS found,
       COALESCE(CAST(m.expected_amount AS VARCHAR), m.expected_digest,
                CASE WHEN m.operation <> 'last' THEN 'a value' ELSE 'nothing' END) AS wanted
FROM state_differences m
JOIN outputs k ON k.trial = m.trial
""",
    undecided="""
SELECT k.trial
FROM outputs k
JOIN cut_topics c ON c.topic = k.topic
JOIN contributions x ON x.sink = k.sink
UNION
SELECT c.trial
FROM contributed c
WHERE c.operation IN ('sum', 'min', 'max') AND c.amount IS NULL
""",
    mutations=(
        Mutator(
            name="state altered",
            table="state",
            key=("sink", "view", "state_key", "aggregate"),
            kind="state",
            change=changes.alter_state,
            of_the_whole=True,
            needs="SELECT x.trial FROM expected_states x",
            targets="""
SELECT DISTINCT k.trial, k.sink, k.view, s.state_key, s.aggregate
FROM state s
JOIN outputs k ON k.sink = s.sink AND k.view = s.view
JOIN expected_states x ON x.trial = k.trial AND x.state_key = s.state_key
                      AND x.aggregate = s.aggregate
LEFT JOIN cut_topics c ON c.topic = k.topic
WHERE c.topic IS NULL""",
        ),
    ),
)
