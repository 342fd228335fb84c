"""no-progress: after healing, progress did not resume within the deadline.

It refutes nothing: a slow pipeline may still catch up. The harness records it in the phase that
waited.
"""

from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="no-progress",
    hop=Hop.PROCESS,
    evidence=Evidence.LIVENESS,
    definition="Progress did not resume within the deadline after healing.",
    example="phase settle ended as stalled",
    source="liveness, kept apart from safety",
    key=("phase",),
    sentence="no progress in phase {phase}: {detail}",
    hint="A client waits forever on a lost connection, or a coordinator never recovered.",
    minimal={
        "phases": ({"phase": "settle", "outcome": "stalled", "detail": "lag 3 after 60 s"},),
    },
    sql="""
SELECT 0 AS trial, p.phase, p.outcome, p.started_at, p.ended_at, p.detail
FROM phases p
WHERE p.outcome = 'stalled'
""",
)
