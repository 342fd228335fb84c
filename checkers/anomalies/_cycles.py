"""The columns and the query that the cycle anomalies share.

Cycles are searched once among all committed transactions. A cycle belongs to the trial of every
topic that one of its transactions sent to.
"""

from __future__ import annotations

from typing import Final

KEY: Final = ("topic", "cycle")
SENTENCE: Final = "{cycle}: a cycle of {rows} steps, from {source} to {target} and back to {source}"
"""Used where only one row is shown; `onceproof.checkers.cycles.explain` describes all rows."""


def steps_of(relation: str) -> str:
    """Return the query for the steps of all cycles of a relation, by trial."""
    return f"""
SELECT t.trial, t.topic, c.cycle, c.step, c.source, c.target, c.kind, c.session, c.at_topic,
       c.at_partition, c.at_offset, c.record, c.after_offset, c.after_record, c.from_at, c.to_at,
       c.clock
FROM {relation} c
JOIN (
    SELECT DISTINCT y.trial, y.topic, x.cycle
    FROM {relation} x
    JOIN txn_trials y ON y.txn = x.source
) t ON t.cycle = c.cycle
"""
