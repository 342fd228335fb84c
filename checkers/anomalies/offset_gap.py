"""offset-gap: the executed ranges of one owner's committed batches are not contiguous.

Each range must start where the previous one ended: offsets between them are in no batch (`gap`),
offsets before that are in two (`overlap`). Offsets are compared, never subtracted, because markers
and aborted records take offsets too. Entries deleted from the log may be skipped, but their content
is unknown.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="offset-gap",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition="The offset ranges of one owner's committed batches have a gap or an overlap.",
    example="batch 1 of input-0 ends at 5 and batch 2 starts at 7",
    source="Spark Structured Streaming's offset log",
    key=("kind", "sink", "view", "owner", "topic", "partition", "batch"),
    sentence=(
        "{kind} in {topic}-{partition}: micro-batch {batch} starts at {start_offset}, but those "
        "before it reached {reached}"
    ),
    hint="A checkpoint was lost, copied or edited by hand, or the starting offset was reset.",
    headline=Headline(
        rank=20,
        one="{n} range of offsets was processed in no micro-batch or in two",
        many="{n} ranges of offsets were processed in no micro-batch or in two",
    ),
    refutes=("at-least-once", "exactly-once"),
    # An overlap loses nothing.
    refutes_only_if={"at-least-once": {"kind": "gap"}},
    # A batch that skipped inputs, or executed some of them twice.
    implies=("duplicate-output", "lost-output", "offset-ahead"),
    minimal={
        "ranges": (
            {"batch": 1, "start_offset": 0, "end_offset": 5},
            {"batch": 2, "start_offset": 7, "end_offset": 9},
        ),
    },
    sql="""
SELECT CASE WHEN r.start_offset > r.reached THEN 'gap' ELSE 'overlap' END AS kind,
       k.trial, k.sink, k.view, r.owner, r.topic, r."partition", r.batch, r.previous_batch,
       r.reached, r.start_offset, r.end_offset, r.execution
FROM committed_ranges r
JOIN outputs k ON k.trial = r.trial
LEFT JOIN cut_partitions c ON c.topic = r.topic AND c."partition" = r."partition"
WHERE r.start_offset < r.reached
   OR (r.start_offset > r.reached AND r.start_offset > COALESCE(c.log_start, r.reached))
""",
    undecided="""
SELECT DISTINCT r.trial
FROM committed_ranges r
JOIN cut_partitions c ON c.topic = r.topic AND c."partition" = r."partition"
WHERE r.start_offset > r.reached AND r.start_offset <= c.log_start
""",
    mutations=(
        Mutator(
            name="range shifted",
            table="ranges",
            key=("kind", "sink", "view", "owner", "topic", "partition", "batch"),
            kind="effects",
            change=changes.move_range,
            needs="SELECT r.trial FROM committed_ranges r WHERE r.start_offset = r.reached",
            targets=f"""
SELECT 'gap' AS kind, k.trial, k.sink, k.view, r.owner, r.topic, r."partition", r.batch,
       r.execution, r.start_offset, r.end_offset
FROM committed_ranges r
LEFT JOIN cut_partitions c ON c.topic = r.topic AND c."partition" = r."partition"
{places.OUTPUT} r.trial
WHERE r.start_offset = r.reached AND r.start_offset >= COALESCE(c.log_start, 0)""",
        ),
    ),
)
