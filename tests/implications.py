"""Which anomaly brings which others with it: their `implies`, over however many steps.

It says *may*, not must. Dropping an effect is a lost-output, and if a
position lies beyond, it is offset-ahead as well. Whoever sees the right one with only implied
others beside it sees one mutation; anything else is a second one, or a wrong checker.
"""

from __future__ import annotations

from onceproof.checkers.anomalies import anomalies


def implied(anomaly: str) -> frozenset[str]:
    """The anomaly itself and all that it may bring with it, over however many steps."""
    found = {anomaly}
    waiting = [anomaly]
    while waiting:
        for name in set(anomalies()[waiting.pop()].implies) - found:
            found.add(name)
            waiting.append(name)
    return frozenset(found)
