"""Which anomalies refute a guarantee, and which a history must be able to show.

An anomaly says itself what it refutes, on its own hop; what refutes nothing
is shown, and may explain another.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.model import GUARANTEES, Hop

__all__ = ["GUARANTEES", "HOPS", "refutations", "shown_by", "shown_with"]

HOPS: Final[dict[str, frozenset[Hop]]] = {
    "idempotent": frozenset({Hop.PRODUCE}),
    "atomic": frozenset({Hop.PRODUCE, Hop.PROCESS}),
}
"""The hops that a guarantee can speak of, where it is not all of them."""


def refutations(guarantee: str, hop: Hop) -> frozenset[str]:
    """Names of the anomalies that refute a guarantee on a hop."""
    return frozenset(
        anomaly.name
        for anomaly in anomalies().values()
        if anomaly.hop in hop.parts and guarantee in anomaly.refutes
    )


_SHOWN_BY: Final[dict[Hop, dict[str, tuple[set[str], ...]]]] = {
    Hop.PRODUCE: {
        "at-most-once": ({"duplicate"},),
        "at-least-once": ({"lost-write"},),
        "exactly-once": ({"duplicate", "lost-write"},),
        "idempotent": ({"duplicate", "lost-write"},),
        "atomic": ({"torn-transaction", "aborted-read"},),
        "ordered": ({"reordered-send"}, {"skipped-read", "repeated-read"}),
    },
    Hop.PROCESS: {
        "at-most-once": ({"duplicate-output"},),
        "at-least-once": ({"lost-output"},),
        "exactly-once": ({"duplicate-output", "lost-output"}, {"state-mismatch"}),
        "atomic": ({"torn-output"},),
        "ordered": ({"reordered-output"},),
    },
}


def shown_by(guarantee: str, hop: Hop) -> tuple[frozenset[str], ...]:
    """Anomalies that a history must be able to show on a hop before a guarantee holds there.

    One of these sets, whole: in a history where none of them could turn up nothing was looked for.
    """
    return tuple(frozenset(names) for names in _SHOWN_BY[hop].get(guarantee, ()))


def shown_with(guarantee: str) -> frozenset[str]:
    """Names of the anomalies that are shown with a guarantee because they explain others."""
    return frozenset(
        anomaly.name for anomaly in anomalies().values() if guarantee in anomaly.shown_with
    )
