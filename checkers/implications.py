"""Which anomaly brings which others with it.

The one thing to know: an arrow says *may*, not must. Dropping an effect is a lost-output, and if a
position lies beyond, it is offset-ahead as well. Whoever sees the right one with only implied
others beside it sees one wound; anything else is a second one, or a wrong checker.
"""

from __future__ import annotations

from typing import Final

IMPLIES: Final[dict[str, frozenset[str]]] = {
    # The input's entry is gone, so an effect that was already made has nothing to stand on.
    "lost-write": frozenset({"unfounded-output"}),
    # A copy is one more committed position, which the pipeline may not have processed.
    "duplicate": frozenset({"lost-output", "offset-ahead"}),
    # The same holds for a record from nowhere, if the transformation knows it.
    "phantom": frozenset({"lost-output", "offset-ahead"}),
    # It stands in another topic or partition than it should, and the other one lacks it.
    "corrupt": frozenset({"lost-write"}),
    # What is missing and was passed is lost at the next start.
    "lost-output": frozenset({"offset-ahead"}),
    # A second effect of an input that was passed by the position stored with it.
    "duplicate-output": frozenset(),
    # Effects that name no position cannot be told apart: one too many is one too many.
    "unfounded-output": frozenset({"duplicate-output"}),
    "phantom-output": frozenset(),
    # An effect under a wrong key is missing under the right one.
    "wrong-output": frozenset({"lost-output", "offset-ahead"}),
    "offset-ahead": frozenset({"lost-output"}),
    # A position that was set back.
    "offset-behind": frozenset({"offset-regressed"}),
    "offset-regressed": frozenset({"offset-behind"}),
    # A batch that skipped inputs, or executed some of them twice.
    "offset-gap": frozenset({"lost-output", "offset-ahead", "duplicate-output"}),
    # Committed readers wait behind it.
    "hanging-transaction": frozenset({"no-progress"}),
    "no-progress": frozenset(),
}
"""Anomaly → the others that it may bring with it, directly."""


def implied(anomaly: str) -> frozenset[str]:
    """The anomaly itself and all that it may bring with it, over however many steps."""
    found = {anomaly}
    waiting = [anomaly]
    while waiting:
        for name in IMPLIES.get(waiting.pop(), frozenset()) - found:
            found.add(name)
            waiting.append(name)
    return frozenset(found)
