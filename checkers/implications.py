"""Which anomaly brings which others with it.

An arrow says *may*, not must. Dropping an effect is a lost-output, and if a
position lies beyond, it is offset-ahead as well. Whoever sees the right one with only implied
others beside it sees one mutation; anything else is a second one, or a wrong checker.
"""

from __future__ import annotations

from typing import Final

IMPLIES: Final[dict[str, frozenset[str]]] = {
    # The input's entry is gone, so an effect that was already made has nothing to stand on, its
    # transaction misses a piece, and the state counts an input that is not there.
    "lost-write": frozenset({"unfounded-output", "torn-transaction", "state-mismatch"}),
    # A copy is one more committed position, which the pipeline may not have processed, and which
    # may stand where another record was acknowledged, or out of order.
    "duplicate": frozenset(
        {
            "lost-output",
            "offset-ahead",
            "inconsistent-offsets",
            "state-mismatch",
            "skipped-read",
            "unseen",
            "reordered-send",
            "reordered-output",
            "torn-transaction",
        }
    ),
    # The same holds for a record from nowhere, if the transformation knows it.
    "phantom": frozenset(
        {"lost-output", "offset-ahead", "state-mismatch", "skipped-read", "inconsistent-offsets"}
    ),
    # It is in another topic or partition than it should, and the other one lacks it.
    "corrupt": frozenset(
        {
            "lost-write",
            "inconsistent-offsets",
            "reordered-send",
            "reordered-output",
            "skipped-read",
            "unseen",
        }
    ),
    # Replicas that disagree have lost or replaced something, perhaps by what was not sent yet.
    "inconsistent-offsets": frozenset(
        {"lost-write", "reordered-send", "corrupt", "duplicate", "phantom"}
    ),
    # What was never committed and was read all the same was processed as well; or it was committed
    # for that reader and is missing for the next.
    "aborted-read": frozenset({"unfounded-output", "lost-write", "precommitted-read"}),
    "precommitted-read": frozenset({"aborted-read", "G1c-realtime"}),
    # A piece of the transaction that is missing, or that is there although the rest is not.
    "torn-transaction": frozenset({"lost-write", "duplicate", "unfounded-output", "aborted-read"}),
    # Entries in another order have their effects in another order.
    "reordered-send": frozenset({"inconsistent-offsets", "reordered-output"}),
    "skipped-read": frozenset({"unseen", "repeated-read"}),
    "repeated-read": frozenset({"skipped-read"}),
    "unseen": frozenset(),
    # Any cycle is one of the weaker kinds as well.
    "G1c": frozenset({"G1c-process", "G1c-realtime", "G1c-ww"}),
    "G1c-process": frozenset({"G1c-realtime"}),
    "G1c-realtime": frozenset(),
    "G1c-ww": frozenset(),
    "G0": frozenset({"G1c-ww"}),
    # What is missing and was passed is lost at the next start, and is missing in the state.
    "lost-output": frozenset({"offset-ahead", "state-mismatch", "reordered-output"}),
    # A second effect of an input may stand after those of later inputs, or be the zombie's.
    "duplicate-output": frozenset({"state-mismatch", "reordered-output", "offset-behind"}),
    # Effects that name no position cannot be told apart: one too many is one too many.
    "unfounded-output": frozenset({"duplicate-output", "lost-output", "offset-ahead"}),
    "phantom-output": frozenset(),
    # An effect under a wrong key is missing under the right one.
    "wrong-output": frozenset({"lost-output", "offset-ahead", "duplicate-output"}),
    "reordered-output": frozenset(),
    "state-mismatch": frozenset(),
    "zombie-write": frozenset({"duplicate-output", "reordered-output", "state-mismatch"}),
    "offset-ahead": frozenset({"lost-output"}),
    # A position that was set back.
    "offset-behind": frozenset({"offset-regressed"}),
    "offset-regressed": frozenset({"offset-behind"}),
    # A batch that skipped inputs, or executed some of them twice.
    "offset-gap": frozenset({"lost-output", "offset-ahead", "duplicate-output"}),
    # Committed readers wait behind it.
    "hanging-transaction": frozenset({"no-progress", "unseen"}),
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
