"""Controls: can what was collected be read at all?

The one thing to know: absence proves something only if presence could have been seen. Where no
identity can be read, or a table holds nothing, "it is not there" is an empty word.
"""

from __future__ import annotations

from dataclasses import dataclass

from checkers.engines.duckdb import Layer
from checkers.model import Claim, Hop

_INPUT = """
SELECT count(*) AS entries, count(CASE WHEN l.record IS NULL THEN 1 END) AS unreadable
FROM log l
JOIN hop_input h ON h.input = l.topic
WHERE l.kind = 'data'
"""
_EFFECTS = """
SELECT count(*) AS entries, count(CASE WHEN e.record IS NULL THEN 1 END) AS unreadable
FROM effects e
JOIN hop_sink k ON k.sink = e.sink AND k.view = e.view
"""


@dataclass(frozen=True, kw_only=True)
class Control:
    """One thing that must be readable, and whether it is."""

    passed: bool
    detail: str
    even_if_interrupted: bool = True
    """An empty table is no failure of a run that did not come to filling it."""


def controls(layer: Layer, claim: Claim) -> tuple[Control, ...]:
    """The controls of a claim's hop."""
    topic, sink, view = claim.scope.input, claim.scope.sink, claim.scope.view
    found = [_control(layer, _INPUT, f"the log of {topic}")]
    if claim.hop is not Hop.PRODUCE:
        found.append(_control(layer, _EFFECTS, f"view {view} of {sink}"))
    return tuple(found)


def _control(layer: Layer, query: str, what: str) -> Control:
    (row,) = layer.rows(query)
    if row["unreadable"]:
        return Control(
            passed=False,
            detail=f"no identity could be read in {row['unreadable']} of {row['entries']} "
            f"entries of {what}",
        )
    if not row["entries"]:
        return Control(
            passed=False, detail=f"nothing was read from {what}", even_if_interrupted=False
        )
    return Control(passed=True, detail=f"{row['entries']} entries of {what} were read")
