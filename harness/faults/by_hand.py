"""Faults that can be asked for in a word or two: `isolate leader:payments-0`.

A fault's file says itself how it is asked for, with a constant `BY_HAND`;
here it is only looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast, get_args

from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.roles import BROKERS, NODES, Roles, role
from onceproof.harness.faults.targets import Target
from onceproof.harness.links.ledger import Way


class UnknownFault(ValueError):
    """No such fault, or not with these words; the text says what would be right."""


@dataclass(frozen=True, kw_only=True)
class ByHand:
    """How a fault is asked for.

    Attributes:
        name: the word for it.
        takes: what the words after it mean; a TARGET can be any role of those in `roles`.
        example: it, with words that fit.
        says: what it does, in a sentence.
        make: makes it of those words; raises `UnknownFault`.
    """

    name: str
    takes: tuple[str, ...]
    example: str
    says: str
    make: Callable[..., Fault]

    @property
    def usage(self) -> str:
        """E.g. `isolate TARGET`."""
        return " ".join([self.name, *self.takes])


@cache
def by_hand() -> dict[str, ByHand]:
    """All that can be asked for, by name."""
    # Imported here: every fault imports this module.
    from onceproof.harness.fault_modules import fault_modules

    found: list[ByHand] = [m.BY_HAND for m in fault_modules() if hasattr(m, "BY_HAND")]
    return {entry.name: entry for entry in sorted(found, key=lambda entry: entry.name)}


def asked(name: str, words: Sequence[str]) -> Fault:
    """The fault that is asked for.

    Raises:
        UnknownFault: there is none of that name, or it takes other words.
    """
    try:
        entry = by_hand()[name]
    except KeyError:
        known = ", ".join(by_hand())
        raise UnknownFault(f"there is no fault «{name}»; there are {known}") from None
    if len(words) != len(entry.takes):
        raise UnknownFault(f"expected {entry.usage}, found {' '.join([name, *words])}")
    return entry.make(*words)


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
    name, _, number = word.partition("-")
    if name == kind and number.isascii() and number.isdigit():
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


def target(word: str) -> Target:
    """A node as it is written by hand: a broker, or `postgres`.

    Raises:
        UnknownFault: it is neither.
    """
    return _role(word, NODES)


def broker(word: str) -> Target:
    """A broker as it is written by hand: `broker-2`, `leader:TOPIC-PARTITION`, `controller`.

    Raises:
        UnknownFault: it is none.
    """
    return _role(word, BROKERS)


def _role(word: str, roles: Roles) -> Target:
    try:
        return role(word, roles)
    except ValueError as error:
        raise UnknownFault(str(error)) from None
