"""Count the inputs that may have been dropped as late by design, and those without an effect."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.engines.overlay import Layer

_LATE: Final = """
SELECT k.topic, k.sink, k.view, count(DISTINCT l.record) AS late,
       count(DISTINCT CASE WHEN e.record IS NULL THEN l.record END) AS missing
FROM log l
JOIN outputs k ON k.topic = l.topic
LEFT JOIN effects e ON e.sink = k.sink AND e.view = k.view AND e.record = l.record
WHERE l.committed AND l.lateness = 'late'
GROUP BY k.topic, k.sink, k.view
ORDER BY k.topic, k.sink, k.view
"""


def late_inputs(layer: Layer) -> tuple[str, ...]:
    """Return a sentence for each output for which an input may have been dropped."""
    return tuple(
        f"{row['late']} inputs of {row['topic']} came later than allowed, so they may be dropped "
        f"by design; {row['missing']} of them have no effect in {row['sink']} ({row['view']})"
        for row in layer.rows(_LATE)
    )
