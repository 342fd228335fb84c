"""What `kill`, `stop` and `pause` can be aimed at, found in the modules of faults."""

from __future__ import annotations

from functools import cache

from onceproof.harness.faults.modules import by_name, fault_classes
from onceproof.harness.faults.roles import BROKERS, role
from onceproof.harness.faults.targets.base import Victim
from onceproof.harness.faults.targets.brokers import Target


@cache
def victims() -> tuple[type[Victim], ...]:
    """All that can be killed, stopped or paused, but for brokers by their roles.

    Raises:
        BadExtension: two are written alike, or one as a broker is.
    """
    kinds = [
        kind for kind in fault_classes() if issubclass(kind, Victim) and "written" in vars(kind)
    ]
    words = [(word, kind) for kind in kinds for word in kind.written.split(", ")]
    by_name([*((word, Target) for word in BROKERS), *words], "targets")
    return tuple(sorted(kinds, key=lambda kind: kind.written))


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
