"""Controls check that what was collected is readable.

Absence proves something only if presence could have been seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.checkers.engines.overlay import Layer
from onceproof.checkers.model import Claim, Hop
from onceproof.checkers.trials import Trials, outputs_of

_INPUT = """
SELECT count(*) AS entries, count(CASE WHEN l.record IS NULL THEN 1 END) AS unreadable
FROM log l
JOIN inputs i ON i.topic = l.topic
WHERE l.kind = 'data' AND i.trial = {trial}
"""
_OUTPUT = """
SELECT sum(n.entries) AS entries, sum(n.unreadable) AS unreadable, min(n.first) AS first
FROM (
    SELECT count(*) AS entries, count(CASE WHEN e.record IS NULL THEN 1 END) AS unreadable,
           min(CASE WHEN e.record IS NULL THEN e.position END) AS first
    FROM effects e
    JOIN outputs k ON k.view = e.view AND (k.sink = e.sink OR k.dead_letters = e.sink)
    WHERE k.trial = {trial}
    UNION ALL
    SELECT count(*) AS entries, count(CASE WHEN j.record IS NULL THEN 1 END) AS unreadable,
           NULL AS first
    FROM journal j
    JOIN outputs k ON k.sink = j.sink AND k.view = 'journal'
    WHERE k.trial = {trial}
    UNION ALL
    SELECT count(*) AS entries,
           count(CASE WHEN s.amount IS NULL AND s.digest IS NULL THEN 1 END) AS unreadable,
           min(CASE WHEN s.amount IS NULL AND s.digest IS NULL THEN s.state_key END) AS first
    FROM state s
    JOIN outputs k ON k.sink = s.sink AND k.view = s.view
    WHERE k.trial = {trial}
) n
"""
_TRANSACTIONS = """
SELECT count(*) AS entries, 0 AS unreadable
FROM sends s
JOIN txns t ON t.txn = s.txn
JOIN inputs i ON i.topic = s.topic
WHERE i.trial = {trial} AND t.outcome <> 'aborted'
"""
_READS = """
SELECT count(*) AS entries, count(CASE WHEN r.record IS NULL THEN 1 END) AS unreadable
FROM reads r
JOIN inputs i ON i.topic = r.topic
WHERE i.trial = {trial}
"""


@dataclass(frozen=True, kw_only=True)
class Control:
    """The result of one check."""

    passed: bool
    detail: str
    even_if_interrupted: bool = True
    """False for an empty table, which is no failure if the run ended before filling it."""


def controls(layer: Layer, claim: Claim, trials: Trials) -> tuple[Control, ...]:
    """Return a claim's controls: its input log, and its outputs, transactions or reads."""
    topic = claim.scope.input
    number = trials.input(claim)
    found = [_control(layer, _INPUT, number, f"the log of {topic}")]
    if claim.hop is not Hop.PRODUCE:
        found += [
            _control(layer, _OUTPUT, trials.number(output), f"view {output.view} of {output.sink}")
            for output in outputs_of(claim)
        ]
    if claim.guarantee == "atomic" and claim.hop is Hop.PRODUCE:
        found.append(_control(layer, _TRANSACTIONS, number, f"transactions that write to {topic}"))
    if claim.guarantee == "ordered" and claim.hop is not Hop.PROCESS:
        found.append(_control(layer, _READS, number, f"what readers saw of {topic}"))
    return tuple(found)


def _control(layer: Layer, query: str, trial: int, what: str) -> Control:
    (row,) = layer.rows(query.format(trial=trial))
    if row["unreadable"]:
        first = f", such as {row['first']}" if row.get("first") else ""
        return Control(
            passed=False,
            detail=f"no identity could be read in {row['unreadable']} of {row['entries']} "
            f"entries of {what}{first}",
        )
    if not row["entries"]:
        return Control(
            passed=False, detail=f"nothing was read from {what}", even_if_interrupted=False
        )
    return Control(passed=True, detail=f"{row['entries']} entries of {what} were read")
