"""Choose pairs of faults: those whose second fault meets what the first one caused.

First faults at the same point that caused the same reaction are one class, and only one of them is
tried in pairs. Pairs that are not chosen are assumed to be independent. A drawn share of them is
tried all the same, to test the assumption.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from onceproof.harness.explore.acts import Single, singles
from onceproof.harness.explore.points import Passed, Point, place_of
from onceproof.harness.explore.trials import Aimed, Outcome, Trial

DRAWN: Final = 0.05
"""Share of the pairs assumed independent that is tried."""
_GUARDS: Final = frozenset({"Produce", "TxnOffsetCommit", "EndTxn", "OffsetCommit"})
"""APIs whose requests carry what recognizes repeated work: sequence, epoch or generation."""
_LOOKUPS: Final = frozenset({"ApiVersions", "Metadata", "FindCoordinator"})
"""APIs that change nothing: a fault at one can only delay what follows."""
_REPEATS: Final = frozenset(
    {"response lost", "response late", "connection closed after", "request late",
     "request duplicated"}
)  # fmt: skip
"""Acts after which a client sends a request again that was carried out."""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The pairs of a protocol.

    Attributes:
        chosen: pairs that may depend on each other, with the reason.
        drawn: pairs that are assumed independent and tried all the same.
        independent: number of pairs assumed independent, including the drawn ones.
        alike: number of pairs whose first fault is in the class of another one.
    """

    chosen: Mapping[Trial, str]
    drawn: tuple[Trial, ...]
    independent: int
    alike: int = 0

    @property
    def possible(self) -> int:
        return len(self.chosen) + self.independent + self.alike


def pairs(quiet: Sequence[Passed], hit: Mapping[Single, Outcome], *, seed: int) -> Pairs:
    """Choose the pairs of singles that were hit.

    Args:
        quiet: a trial without faults.
        hit: the singles that were hit, with their outcomes.
        seed: decides which independent pairs are drawn.
    """
    usual = {_kind(passed.point) for passed in quiet}
    chosen: dict[Trial, str] = {}
    rest: list[Trial] = []
    alike = 0
    classes: set[tuple[Point, str, tuple[str, ...]]] = set()
    for first, outcome in sorted(hit.items(), key=lambda item: item[0].id):
        (at,) = outcome.hits
        later = dict.fromkeys(passed.point for passed in outcome.trace[at + 1 :])
        reaction = (first.point, outcome.signature.perceived, outcome.signature.after)
        if reaction in classes:
            alike += len(singles(later))
            continue
        classes.add(reaction)
        start = place_of(first.point, quiet)
        assert start is not None
        for point in later:
            place = place_of(point, outcome.trace, after=at)
            assert place is not None
            reason = _reason(first, point, usual, outcome.trace, at)
            for second in singles([point]):
                trial = Trial(
                    aimed=(Aimed(single=first, place=start), Aimed(single=second, place=place))
                )
                if reason is None:
                    rest.append(trial)
                else:
                    chosen[trial] = reason
    drawn = random.Random(seed).sample(rest, round(len(rest) * DRAWN))
    return Pairs(chosen=chosen, drawn=tuple(drawn), independent=len(rest), alike=alike)


def in_turn(trials: Iterable[Trial]) -> list[Trial]:
    """Order trials so that combinations of API and act take turns."""
    seen: Counter[tuple[str, ...]] = Counter()
    ranked = []
    for trial in sorted(trials, key=lambda trial: trial.key):
        kind = tuple(part for f in trial.faults for part in (f.point.api, f.act.name))
        ranked.append((seen[kind], trial.key, trial))
        seen[kind] += 1
    return [trial for _, _, trial in sorted(ranked, key=lambda item: item[:2])]


def united(parts: Iterable[Pairs]) -> Pairs:
    """Return the pairs of all shards."""
    chosen: dict[Trial, str] = {}
    drawn: tuple[Trial, ...] = ()
    independent = alike = 0
    for part in parts:
        chosen |= part.chosen
        drawn += part.drawn
        independent += part.independent
        alike += part.alike
    return Pairs(chosen=chosen, drawn=drawn, independent=independent, alike=alike)


def _kind(point: Point) -> tuple[str, ...]:
    return (point.role, point.direction, point.api, point.purpose, point.target)


def _reason(
    first: Single,
    point: Point,
    usual: set[tuple[str, ...]],
    trace: Sequence[Passed],
    at: int,
) -> str | None:
    """Why a second fault at a point may depend on the first one; None if it should not."""
    if point.api in _LOOKUPS:
        return None
    if _kind(point) not in usual:
        return "the message exists only after the first fault"
    same_unit = any(
        passed.point == point and passed.unit == trace[at].unit for passed in trace[at + 1 :]
    )
    if first.act.name in _REPEATS and point.api in _GUARDS and same_unit:
        return "the message carries the guard of work that is repeated"
    return None
