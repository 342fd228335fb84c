"""What faults of a producer have in common: how one is written by hand."""

from __future__ import annotations

import re

from harness.faults.by_hand import UnknownFault


def sender(word: str) -> str:
    """A producer as it is written by hand: `producer-0`.

    Raises:
        UnknownFault: it is none.
    """
    if re.fullmatch(r"producer-\d+", word, re.ASCII):
        return word
    raise UnknownFault(f"{word!r} is no producer; expected producer-0, producer-1 …")
