"""Which scenarios to run first when there is not time for all.

First come those that speak for all (`sample`): one of each family that keeps
its word, then one of each that must be convicted. Then come those that try a subject with a kind of
fault that nobody before them did, the cheap before the dear. So however early it is broken off,
what was run is spread as widely as its time allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from onceproof.matrix.plan import Planned
from onceproof.matrix.sample import sample


def order_by_coverage(planned: Iterable[Planned]) -> tuple[Planned, ...]:
    """The same places in another order."""
    known = tuple(planned)
    can = [p.scenario for p in known if p.lacks is None]
    one, two = ({s.name for s in sample(can, seconds)} for seconds in (0, math.inf))
    first = [p for p in known if p.scenario.name in one]
    first += [p for p in known if p.scenario.name in two - one]
    rest = sorted(
        (p for p in known if p.scenario.name not in two), key=lambda p: p.scenario.seconds
    )
    seen = {pair for place in first for pair in _pairs(place)}
    new, known_kinds = list[Planned](), list[Planned]()
    for place in rest:
        pairs = _pairs(place)
        (known_kinds if pairs <= seen else new).append(place)
        seen |= pairs
    return (*first, *new, *known_kinds)


def _pairs(place: Planned) -> set[tuple[str, str, str]]:
    """Who is tried by what, and where; a quiet run is a kind of its own."""
    subject = place.scenario.subject.name
    return {(place.backend, subject, kind) for kind in place.kinds or ("none",)}
