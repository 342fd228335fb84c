"""What `kill`, `stop` and `pause` can be aimed at, found in the modules of faults."""

from __future__ import annotations

from functools import cache

from onceproof.harness.fault_modules import fault_modules
from onceproof.harness.faults.roles import BROKERS, role
from onceproof.harness.faults.targets.base import Victim


@cache
def victims() -> tuple[type[Victim], ...]:
    """All that can be killed, stopped or paused, but for brokers by their roles."""
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
        ValueError: it is none.
    """
    for kind in victims():
        if (found := kind.parse(word)) is not None:
            return found
    known = ", ".join(kind.written for kind in victims())
    try:
        return role(word, BROKERS)
    except ValueError as error:
        raise ValueError(f"{error}; or {known}") from None
