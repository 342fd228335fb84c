"""Find the targets of `kill`, `stop` and `pause` in the fault modules."""

from __future__ import annotations

from functools import cache

from onceproof.harness.faults.modules import by_name, fault_classes
from onceproof.harness.faults.roles import BROKERS, role
from onceproof.harness.faults.targets.base import Victim
from onceproof.harness.faults.targets.brokers import Target


@cache
def victims() -> tuple[type[Victim], ...]:
    """Return all kinds of targets except brokers; raise `BadExtension` if two use the same word."""
    kinds = [
        kind for kind in fault_classes() if issubclass(kind, Victim) and "written" in vars(kind)
    ]
    words = [(word, kind) for kind in kinds for word in kind.written.split(", ")]
    by_name([*((word, Target) for word in BROKERS), *words], "targets")
    return tuple(sorted(kinds, key=lambda kind: kind.written))


def victim(word: str) -> Victim:
    """Parse a target: `driver`, `member-0`, or a broker by role; raise `ValueError` for others."""
    for kind in victims():
        if (found := kind.parse(word)) is not None:
            return found
    known = ", ".join(kind.written for kind in victims())
    try:
        return role(word, BROKERS)
    except ValueError as error:
        raise ValueError(f"{error}, or one of {known}") from None
