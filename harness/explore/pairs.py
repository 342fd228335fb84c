"""Choose pairs of faults: those whose second fault meets what the first one caused.

Faults at messages of the same kind that caused the same reaction alone are one class, of which only
one is tried in pairs, as first or second fault. Pairs that are not chosen are assumed to be
independent. A drawn share of them is tried all the same, to test the assumption.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from onceproof.harness.explore.acts import Single, singles
from onceproof.harness.explore.points import LOOKUPS, WINDOW, Passed, Place, Point, place_of
from onceproof.harness.explore.trials import Aimed, Outcome, Signature, Trial

DRAWN: Final = 0.05
"""Share of the pairs assumed independent that is tried."""
_GUARDS: Final = frozenset({"Produce", "TxnOffsetCommit", "EndTxn", "OffsetCommit"})
"""APIs whose requests carry what recognizes repeated work: sequence, epoch or generation."""
_ENDS: Final = ("commit", "abort")
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
        alike: number of pairs with a fault that is in the class of another one or that violates
            alone, or in which two brokers fail.
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
    left_out = _doubles(hit) | {single for single, outcome in hit.items() if outcome.violated}
    for first, outcome in sorted(hit.items(), key=lambda item: item[0].id):
        (at,) = outcome.hits
        later = dict.fromkeys(passed.point for passed in outcome.trace[at + 1 :])
        if first in left_out:
            alike += len(singles(later))
            continue
        start = place_of(first.point, quiet)
        assert start is not None
        for point in later:
            place = place_of(point, outcome.trace, after=at)
            assert place is not None
            depends = _reason(first, point, usual, outcome.trace, at)
            left_behind = _follows_abort(point, outcome.trace, at)
            for second in singles([point]):
                reason = depends
                if second.act.kills and left_behind:
                    reason = "the client is killed at the commit that follows an abort"
                both = first.act.breaks and second.act.breaks
                if second in left_out or both or _at_one_window(first, start, second, place):
                    alike += 1
                    continue
                trial = Trial(
                    aimed=(Aimed(single=first, place=start), Aimed(single=second, place=place))
                )
                if reason is None:
                    rest.append(trial)
                else:
                    chosen[trial] = reason
    drawn = random.Random(seed).sample(rest, round(len(rest) * DRAWN))
    return Pairs(chosen=chosen, drawn=tuple(drawn), independent=len(rest), alike=alike)


def _at_one_window(one: Single, at: Place, other: Single, then: Place) -> bool:
    """Return whether both faults wait for the same window of a life: they would act together."""
    windows = {(s.point.direction, s.point.api, p.life) for s, p in ((one, at), (other, then))}
    return len(windows) == 1 and one.point.direction == WINDOW


def _doubles(hit: Mapping[Single, Outcome]) -> set[Single]:
    """Return the singles that are in the class of another one, which comes first by its id."""
    classes: set[tuple[tuple[str, ...], Signature]] = set()
    found = set()
    for single, outcome in sorted(hit.items(), key=lambda item: item[0].id):
        own = (_kind(single.point), outcome.signature)
        if own in classes:
            found.add(single)
        classes.add(own)
    return found


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


def _follows_abort(point: Point, trace: Sequence[Passed], at: int) -> bool:
    """Return whether a point is the first commit after a fault, and an abort comes before it.

    A client that keeps something of the aborted transaction commits it there. Only a crash shows
    it, since a client that goes on would do the rest.
    """
    ends = [passed.point.purpose for passed in trace[at + 1 :] if passed.point.purpose in _ENDS]
    return point.purpose == "commit" and ends[:1] == ["abort"]


def _reason(
    first: Single,
    point: Point,
    usual: set[tuple[str, ...]],
    trace: Sequence[Passed],
    at: int,
) -> str | None:
    """Why a second fault at a point may depend on the first one; None if it should not."""
    if point.api in LOOKUPS:
        return None
    if _kind(point) not in usual:
        return "the message exists only after the first fault"
    same_unit = any(
        passed.point == point and passed.unit == trace[at].unit for passed in trace[at + 1 :]
    )
    if first.act.name in _REPEATS and point.api in _GUARDS and same_unit:
        return "the message carries the guard of work that is repeated"
    return None
