"""offset-regressed: an atomic or resume position went backwards, and the harness did not move it.

Positions written by the harness are never a regression. The subject's next position is compared
with them, so resuming from there is correct. See also KAFKA-8659.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="offset-regressed",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition="An atomic or resume position went backwards, and the harness did not move it.",
    example="the group's position in input-0 was 9 and then 7",
    source="KIP-98 and KIP-447: fencing of zombies that commit offsets",
    key=("sink", "view", "owner", "role", "topic", "partition", "ordinal"),
    sentence=(
        "the {role} position of {owner} in {topic}-{partition} went back from {previous} to "
        "{position}"
    ),
    hint="A zombie committed after its successor, or the group's offsets expired.",
    headline=Headline(
        rank=19,
        one="{n} stored position went backwards",
        many="{n} stored positions went backwards",
    ),
    refutes=("exactly-once",),
    implies=("offset-behind",),
    minimal={
        "positions": (
            {"offset": 9},
            {"offset": 7},
        ),
    },
    sql="""
SELECT k.trial, k.sink, k.view, d.owner, d.role, d.topic, d."partition", d.ordinal, d.previous,
       d."offset" AS position, d.previous_batch, d.batch
FROM done_positions d
JOIN outputs k ON k.trial = d.trial
WHERE d."by" = 'subject' AND d."offset" < d.previous
""",
    mutations=(
        Mutator(
            name="position set back",
            table="positions",
            key=("sink", "view", "owner", "role", "topic", "partition", "ordinal"),
            kind="regress",
            change=changes.move_position,
            needs="""
SELECT d.trial
FROM done_positions d
WHERE d.newest AND d."by" = 'subject' AND d.previous > 0""",
            targets=f"""
SELECT k.trial, k.sink, k.view, d.owner, d.role, d.topic, d."partition", d.ordinal, d.batch,
       d."offset" AS position, d.previous - 1 AS moved
FROM done_positions d
{places.OUTPUT} d.trial
WHERE d.newest AND d."by" = 'subject' AND d.previous > 0""",
        ),
    ),
)
