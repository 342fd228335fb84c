"""What faults of a producer have in common: how one is written by hand."""

from __future__ import annotations

from onceproof.harness.faults.by_hand import numbered


def sender(word: str) -> str:
    """A producer as it is written by hand: `producer-0`.

    Raises:
        UnknownFault: it is none.
    """
    return numbered(word, "producer")
