"""no-progress: after healing, progress did not come back within the deadline.

It refutes nothing: what is slow may still come. The harness says so in the phase that waited.

    phases: settle, stalled
    → no-progress in settle

Source: ANOMALIES.md; liveness, apart from safety.
"""

from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="no-progress",
    hop=Hop.PROCESS,
    evidence=Evidence.LIVENESS,
    definition="After healing, progress did not come back within the deadline.",
    example="phase settle ended as stalled",
    source="liveness, kept apart from safety",
    key=("phase",),
    sentence="no progress in phase {phase}: {detail}",
    hint=(
        "A client that waits for ever on a connection that is gone, or a coordinator that never "
        "came back."
    ),
    minimal={
        "phases": ({"phase": "settle", "outcome": "stalled", "detail": "lag 3 after 60 s"},),
    },
    sql="""
SELECT 0 AS trial, p.phase, p.outcome, p.started_at, p.ended_at, p.detail
FROM phases p
WHERE p.outcome = 'stalled'
""",
)
