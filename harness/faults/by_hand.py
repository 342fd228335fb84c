"""Faults that can be asked for in a word or two: `isolate leader:payments-0`.

A fault's file says itself how it is asked for, with a constant `BY_HAND`;
here it is only looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.roles import BROKERS, NODES, Roles, role
from onceproof.harness.faults.targets.base import Victim
from onceproof.harness.faults.targets.brokers import Target
from onceproof.harness.faults.words import UnknownFault

AT: Final = "--at"


@dataclass(frozen=True, kw_only=True)
class ByHand:
    """How a fault is asked for.

    Attributes:
        name: the word for it.
        takes: what the words after it mean; a TARGET can be any role of those in `roles`.
        example: it, with words that fit.
        says: what it does, in a sentence.
        make: makes it of those words; raises `UnknownFault`.
        windows: whether `--at WINDOW` may come behind them, which `make` takes as `at`.
    """

    name: str
    takes: tuple[str, ...]
    example: str
    says: str
    make: Callable[..., Fault]
    windows: bool = False

    @property
    def usage(self) -> str:
        """E.g. `isolate TARGET`."""
        return " ".join([self.name, *self.takes, *(["[--at WINDOW]"] if self.windows else [])])


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
    behind: dict[str, str] = {}
    given = list(words)
    if entry.windows and AT in words[:-1]:
        place = given.index(AT)
        behind["at"] = given[place + 1]
        del given[place : place + 2]
    if len(given) != len(entry.takes):
        raise UnknownFault(f"expected {entry.usage}, found {' '.join([name, *words])}")
    try:
        return entry.make(*given, **behind)
    except ValueError as error:  # also what the fault itself refuses, such as a window it has not
        raise UnknownFault(str(error)) from None


@cache
def victims() -> tuple[type[Victim], ...]:
    """All that can be killed, stopped or paused, but for brokers by their roles."""
    from onceproof.harness.fault_modules import fault_modules

    found = {
        value.written: value
        for module in fault_modules()
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Victim) and "written" in vars(value)
    }
    return tuple(found[written] for written in sorted(found))


def victim(word: str) -> Victim:
    """What a fault kills, stops or pauses: `driver`, `member-0`, or a broker as for other faults.

    Raises:
        UnknownFault: it is none.
    """
    for kind in victims():
        if (found := kind.parse(word)) is not None:
            return found
    known = ", ".join(kind.written for kind in victims())
    try:
        return role(word, BROKERS)
    except ValueError as error:
        raise UnknownFault(f"{error}; or {known}") from None


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
