"""Which anomalies refute a guarantee, and which a history must be able to show."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.model import GUARANTEES, Hop

__all__ = ["GUARANTEES", "HOPS", "refutations", "shown_by", "shown_with"]

HOPS: Final[dict[str, frozenset[Hop]]] = {
    "idempotent": frozenset({Hop.PRODUCE}),
    "atomic": frozenset({Hop.PRODUCE, Hop.PROCESS}),
}
"""The hops of guarantees that cannot be claimed on all of them."""


def refutations(guarantee: str, hop: Hop) -> frozenset[str]:
    """Return names of the anomalies that refute a guarantee on a hop."""
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
    """Return sets of anomalies, one of which a history must be able to show in full.

    Otherwise nothing was tested on this hop, and the guarantee does not hold there.
    """
    return tuple(frozenset(names) for names in _SHOWN_BY[hop].get(guarantee, ()))


def shown_with(guarantee: str) -> frozenset[str]:
    """Return names of anomalies that are shown with a guarantee because they explain others."""
    return frozenset(
        anomaly.name for anomaly in anomalies().values() if guarantee in anomaly.shown_with
    )
