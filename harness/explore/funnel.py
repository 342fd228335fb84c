"""The figures of an exploration: what was possible, tried, hit and found, never a lone share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from onceproof.harness.explore.acts import Single, singles
from onceproof.harness.explore.journal import Known
from onceproof.harness.explore.pairs import Pairs
from onceproof.harness.explore.points import Protocol, learn
from onceproof.harness.explore.singles import TRIES
from onceproof.harness.explore.trials import Outcome, parse_key

_RARE: Final = 0.01
"""Pairs are no longer tried if a new reaction is less probable than this."""


@dataclass(frozen=True, kw_only=True)
class PairFigures:
    """Numbers of pairs: possible, chosen, like others, assumed independent, and tried.

    Attributes:
        verdicts: number of pairs that were hit, by verdict.
        missed: number of pairs that were missed in all tries.
        left: number of pairs that are chosen or drawn, and neither hit nor missed.
        rare: whether new reactions are so rare that the others are left out.
    """

    possible: int
    chosen: int
    chosen_hit: int
    alike: int
    independent: int
    drawn_hit: int
    differed: int
    """Drawn pairs with a violation that neither of their singles had."""
    verdicts: Mapping[str, int]
    missed: int
    left: int
    rare: bool


@dataclass(frozen=True, kw_only=True)
class Funnel:
    """The figures of an exploration.

    Attributes:
        points: number of stable points; `unstable` are the ids of the others.
        singles: number of singles of the stable points.
        hit: number of singles that were hit, by verdict.
        missed: singles that were missed in all tries, with the last reason.
        left: number of singles that are still to be tried.
        violations: keys of trials that came out violated, with the anomalies.
    """

    points: int
    unstable: tuple[str, ...]
    quiet: int
    trials: int
    singles: int
    hit: Mapping[str, int]
    missed: Mapping[str, str]
    left: int
    pairs: PairFigures | None
    violations: Mapping[str, tuple[str, ...]]
    confirmed: Mapping[str, tuple[int, int]]
    shrunk: Mapping[str, str]
    signatures: int
    once: int
    """Number of signatures that occurred once."""
    unsound: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def funnel(known: Known, pairs: Pairs | None = None) -> Funnel:
    """Count what a journal contains; `pairs` is None if none were planned yet."""
    protocol = learn(known.quiet) if known.quiet else Protocol(stable=(), unstable=())
    every = set(singles(protocol.stable))
    hit, missed = singles_in(known)
    # Shards may have learned points that are not stable in all of them.
    hit = {single: outcome for single, outcome in hit.items() if single in every}
    missed = {single: why for single, why in missed.items() if single in every}
    violated = {
        e.key: tuple(sorted(e.outcome.anomalies)) for e in known.trials if e.outcome.violated
    }
    signatures = Counter(e.outcome.signature for e in known.trials if e.outcome.hit)
    return Funnel(
        points=len(protocol.stable),
        unstable=tuple(point.id for point in protocol.unstable),
        quiet=len(known.quiet),
        trials=len(known.trials),
        singles=len(every),
        hit=dict(Counter(outcome.verdict for outcome in hit.values())),
        missed={single.id: why for single, why in missed.items()},
        left=len(every) - len(hit) - len(missed),
        pairs=None if pairs is None else _pairs(known, pairs),
        violations=violated,
        confirmed={key: (c.failed, c.tries) for key, c in known.confirmed.items()},
        shrunk=_smallest(known),
        signatures=len(signatures),
        once=sum(count == 1 for count in signatures.values()),
        unsound=tuple(known.unsound),
    )


def singles_in(known: Known) -> tuple[dict[Single, Outcome], dict[Single, str]]:
    """Return the singles that were hit, with outcomes, and those given up, with the reason."""
    hit: dict[Single, Outcome] = {}
    misses: dict[Single, list[str]] = {}
    for entry in known.trials:
        faults = parse_key(entry.key)
        if len(faults) != 1:
            continue
        if entry.outcome.missed is None:
            hit[faults[0]] = entry.outcome
        else:
            misses.setdefault(faults[0], []).append(entry.outcome.missed)
    missed = {
        single: whys[-1]
        for single, whys in misses.items()
        if single not in hit and len(whys) >= TRIES
    }
    return hit, missed


def _pairs(known: Known, pairs: Pairs) -> PairFigures:
    chosen, drawn = ({trial.key for trial in part} for part in (pairs.chosen, pairs.drawn))
    hit = {e.key: e.outcome for e in known.trials if e.outcome.hit}
    tries = Counter(e.key for e in known.trials)
    missed = {key for key in chosen | drawn if key not in hit and tries[key] >= TRIES}
    alone = {key for key, outcome in hit.items() if outcome.violated and " + " not in key}
    return PairFigures(
        possible=pairs.possible,
        chosen=len(chosen),
        chosen_hit=len(chosen & hit.keys()),
        alike=pairs.alike,
        independent=pairs.independent,
        drawn_hit=len(drawn & hit.keys()),
        differed=sum(
            hit[key].violated and alone.isdisjoint(key.split(" + ")) for key in drawn & hit.keys()
        ),
        verdicts=dict(Counter(hit[key].verdict for key in (chosen | drawn) & hit.keys())),
        missed=len(missed),
        left=len((chosen | drawn) - hit.keys() - missed),
        rare=new_are_rare(known),
    )


def new_are_rare(known: Known) -> bool:
    """Whether further pairs are left out, because few of them would show a new reaction."""
    return few_new(e.outcome.signature for e in known.trials if e.outcome.hit and " + " in e.key)


def few_new(signatures: Iterable[object]) -> bool:
    """Whether few new signatures are to be expected, by Good and Turing's estimate.

    It is the number of signatures that occurred once, divided by the number of trials. Fewer trials
    than it takes to see a rare signature say nothing.
    """
    counts = Counter(signatures)
    once = sum(count == 1 for count in counts.values())
    return counts.total() * _RARE >= 1 and once / counts.total() < _RARE


def _smallest(known: Known) -> dict[str, str]:
    own = {
        key: f"{s.to}, with {s.transactions} transactions of {s.records} records"
        for key, s in known.shrunk.items()
    }
    others = {
        entry.key: f"like that of {other}"
        for entry in known.trials
        if entry.outcome.violated and (other := known.like(entry)) and entry.key not in own
    }
    return own | others


def told(figures: Funnel) -> list[str]:
    """The figures as lines of text."""
    hit = sum(figures.hit.values())
    verdicts = ", ".join(f"{count} {_VERDICT[name]}" for name, count in sorted(figures.hit.items()))
    lines = [
        f"points   {figures.points} stable in {figures.quiet} quiet runs, "
        f"{len(figures.unstable)} unstable (not explored)",
        f"singles  {figures.singles}: {hit} hit ({verdicts or 'none'}), "
        f"{len(figures.missed)} missed after {TRIES} tries, {figures.left} left",
    ]
    if (pairs := figures.pairs) is not None:
        lines.append(
            f"pairs    {pairs.possible} possible: {pairs.chosen} chosen ({pairs.chosen_hit} hit), "
            f"{pairs.alike} like another one, with a fault that violates alone, or with "
            "two failing brokers, "
            f"{pairs.independent} assumed independent ({pairs.drawn_hit} of them tried, "
            f"{pairs.differed} differed); {pairs.missed} missed after {TRIES} tries, {pairs.left} "
            f"left{_WHY_LEFT if pairs.rare and pairs.left else ''}"
        )
    lines += [
        f"trials   {figures.trials}, with {figures.signatures} different reactions, "
        f"{figures.once} of them seen once",
        *(f"unstable {point}" for point in figures.unstable),
        *(f"missed   {single}: {why}" for single, why in figures.missed.items()),
        *(f"unsound  {why}" for why in figures.unsound),
    ]
    for key, names in figures.violations.items():
        failed, of = figures.confirmed.get(key, (0, 0))
        repeated = f"; repeated {failed} of {of} times on a fresh stage" if of else ""
        least = f"; smallest case: {figures.shrunk[key]}" if key in figures.shrunk else ""
        lines.append(f"violated {key}: {', '.join(names)}{repeated}{least}")
    return lines


_WHY_LEFT: Final = ", since a new reaction is to be expected in fewer than 1 % of them"
_VERDICT = {
    "holds": "hold",
    "violated": "violated",
    "stalled": "stalled",
    "unknown": "unknown",
}
