"""Words of a fault that is written by hand: numbers, directions, one of several of a kind."""

from __future__ import annotations

from typing import cast, get_args

from onceproof.harness.faults.targets.base import is_numbered
from onceproof.harness.links.ledger import Way


class UnknownFault(ValueError):
    """No such fault, or not with these words; the text says what would be right."""


def way(word: str) -> Way:
    """A direction as it is written by hand: `requests`, `responses`.

    Raises:
        UnknownFault: it is neither.
    """
    for known in get_args(Way):
        if word == known:
            return cast("Way", word)
    raise UnknownFault(f"invalid direction {word!r}: expected {' or '.join(get_args(Way))}")


def numbered(word: str, kind: str) -> str:
    """One of several of a kind as it is written by hand: `member-0`.

    Raises:
        UnknownFault: it is none.
    """
    if is_numbered(word, kind):
        return word
    raise UnknownFault(f"{word!r} is no {kind}; expected {kind}-0, {kind}-1 …")


def amount(word: str, *, least: int = 1) -> int:
    """A number as it is written by hand.

    Raises:
        UnknownFault: it is none, or less than there can be.
    """
    if word.isascii() and word.isdigit() and int(word) >= least:
        return int(word)
    raise UnknownFault(f"invalid amount {word!r}: expected an integer ≥ {least}")
