"""Order scenarios by coverage, for a matrix with a time limit.

First come the scenarios of `sample`: one of each family that holds, then one of each that must be
violated. Next come those with a new pair of subject and kind of fault, then the rest, quick ones
first. So an interrupted matrix covers as much as its time allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from onceproof.matrix.plan import Planned
from onceproof.matrix.sample import sample


def order_by_coverage(planned: Iterable[Planned]) -> tuple[Planned, ...]:
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
    """Return the triples of backend, subject and kind of fault; no fault is a kind of its own."""
    subject = place.scenario.subject.name
    return {(place.backend, subject, kind) for kind in place.kinds or ("none",)}
