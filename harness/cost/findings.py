"""What a measurement says, after it has proved its instrument.

Proofs are made in each measurement. The base is measured twice, as if it were two ways: each ratio
must contain 1, and the difference in latency at one load 0. In one phase its records are sent later
than they are due: the difference in latency must contain that delay. Of producers, a twin of the
transactional one sleeps after each commit: the difference in time per transaction must contain what
the twin slept. A proof that is wrong makes the measurement invalid. One whose interval is too wide
leaves what it vouches for unresolved: the ratio of one thing, or all times. (The twin vouches for
nothing that is told but for itself.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from onceproof.harness.cost.block import Block
from onceproof.harness.cost.estimate import Estimate, difference, ratio, trimmed_mean
from onceproof.harness.cost.ways import AGAIN_SHARE, SHARES, Comparison, Phase, Way

LATENCY: Final = "latency"
Compare = Callable[..., Estimate]
Verdict = Literal["right", "wrong", "not resolved"]
Unit = Literal["ratio", "seconds"]
Judge = Callable[[Estimate, Estimate, float], Verdict]
"""Of the interval that is sure, the usual one, and what is known."""
_Measured = tuple[str, float | None, Unit, Callable[[Block], float]]
_WIDEST_RATIO: Final = 1.25
"""The largest high/low of a ratio that is told."""
_PRECISION: Final = 0.01
"""Part by which a ratio may miss the truth: the same producer fills its batches differently each
time, and what a batch has besides records is in bytes and times per record."""
_FINEST: Final = 0.002
"""Seconds; a narrower interval of a latency is told even if the latency is smaller."""
_SURE: Final = 0.998
"""Confidence of the proofs: seven are made in every measurement, and are to be wrong rarely."""
_WIDEST_DELAY: Final = 2.0
"""The widest interval of a known delay, as a multiple of it."""
_ENOUGH: Final = 300
"""Fewest records for a 99th percentile: that of so many is the third largest, which lies on
average at the 99th percentile (298/301; David and Nagaraja, "Order Statistics", section 2.5)."""
_ERROR: Final = 0.1
"""Part by which a known delay may be missed."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One comparison of two ways.

    Attributes:
        what: `throughput`, `p50`, `p99`, `stall`, `client`, `brokers` or `written`.
        share: load at which it was measured, as a part of what all keep up with; None: full speed.
        estimate: None if some values were too small to measure.
        resolved: whether the interval is narrow enough to tell the value, and the reader kept up.
    """

    base: str
    other: str
    what: str
    share: float | None
    unit: Unit
    estimate: Estimate | None
    resolved: bool


@dataclass(frozen=True, kw_only=True)
class Proof:
    """The measurement of something that is known.

    Attributes:
        what: `same`, `delay` or `twin`.
        of: what it vouches for: what a ratio is of, or `latency`, or `transaction`.
        known: the true value.
    """

    what: str
    of: str
    unit: Unit
    known: float
    estimate: Estimate
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What is known of one comparison."""

    comparison: Comparison
    proofs: tuple[Proof, ...]
    figures: tuple[Figure, ...]

    @property
    def valid(self) -> bool:
        return all(proof.verdict != "wrong" for proof in self.proofs)

    @property
    def proved(self) -> bool:
        return all(proof.verdict == "right" for proof in self.proofs)

    def vouched(self, what: str) -> bool:
        """Return whether figures of this may be told: of `latency`, or what a ratio is of."""
        return self.valid and all(p.verdict == "right" for p in self.proofs if p.of == what)


def _later(sure: Estimate, usual: Estimate, known: float) -> Verdict:
    least, most = known * (1 - _ERROR), known * (1 + _ERROR)
    if sure.low > most or sure.high < least:
        return "wrong"
    narrow = usual.high - usual.low <= _WIDEST_DELAY * known and not usual.contains(0.0)
    return "right" if narrow else "not resolved"


def findings(comparison: Comparison, blocks: Sequence[Block]) -> Findings:
    """Judge the blocks of one comparison.

    Raises:
        ValueError: a way has no blocks.
    """
    base = comparison.base

    def of(name: str, phase: Phase, value: Callable[[Block], float]) -> list[float]:
        where = (f"{comparison.name}-{name}", phase.share, phase.delay)
        rounds = (b for b in blocks if b.round >= 0 and (b.way, b.share, b.delay) == where)
        # Those of a round are in the order of their turns, which are compared turn by turn.
        return [value(block) for block in sorted(rounds, key=lambda b: b.round)]

    def compared(
        compare: Compare, base: list[float], other: list[float]
    ) -> tuple[Estimate, Estimate]:
        """Return the interval that is sure, and the usual one."""
        return compare(base, other, confidence=_SURE), compare(base, other)

    def same(what: str, value: Callable[[Block], float]) -> Proof | None:
        full = Phase()
        values = of(base, full, value), of(comparison.again, full, value)
        if not _positive(values):
            return None  # such figures are not told either
        sure, usual = map(_coarse, compared(ratio, *values))
        verdict = _same(sure, usual)
        return Proof(what="same", of=what, unit="ratio", known=1.0, estimate=sure, verdict=verdict)

    def later(
        what: str, of_what: str, known: float, *values: list[float], judge: Judge = _later
    ) -> Proof:
        sure, usual = compared(difference, *values)
        return Proof(
            what=what,
            of=of_what,
            unit="seconds",
            known=known,
            estimate=sure,
            verdict=judge(sure, usual, known),
        )

    def proofs() -> tuple[Proof, ...]:
        delayed = comparison.delayed
        found = [same(what, value) for what, _, unit, value in _MEASURED if unit == "ratio"]
        on_time = of(base, Phase(share=delayed.share), _p50)
        found.append(
            later("delay", LATENCY, delayed.delay, on_time, of(comparison.again, delayed, _p50))
        )
        alike = (of(way, Phase(share=AGAIN_SHARE), _p50) for way in (base, comparison.again))
        no_later = partial(_no_later, delay=delayed.delay)
        found.append(later("same", LATENCY, 0.0, *alike, judge=no_later))
        if comparison.twin is not None:
            way, twin = comparison.twin
            phase = comparison.way(twin).phases[-1]
            slept = trimmed_mean(of(twin, phase, lambda b: b.napped) or [0.0])
            values = of(way, phase, _transaction), of(twin, phase, _transaction)
            found.append(later("twin", "transaction", slept, *values))
        return tuple(proof for proof in found if proof is not None)

    proved = Findings(comparison=comparison, proofs=proofs(), figures=())

    def figure(base: str, other: str, measured: _Measured) -> Figure:
        what, share, unit, value = measured
        compare, narrow = _COMPARE[unit]
        phase = Phase(share=share)
        values = of(base, phase, value), of(other, phase, value)
        found = compare(*values) if unit == "seconds" or _positive(values) else None
        if found is not None and unit == "ratio":
            found = _coarse(found)
        behind = any(n for way in (base, other) for n in of(way, phase, lambda b: b.behind))
        few = min(n for way in (base, other) for n in of(way, phase, lambda b: b.sent)) < _ENOUGH
        by_reader = unit == "seconds" or (what == "throughput" and _is_fed(comparison))
        vouched = proved.vouched(what if unit == "ratio" else LATENCY)
        return Figure(
            base=base,
            other=other,
            what=what,
            share=share,
            unit=unit,
            estimate=found,
            resolved=(
                found is not None
                and vouched
                and narrow(found)
                and not (by_reader and behind)
                and not (what == "p99" and few)
            ),
        )

    return Findings(
        comparison=comparison,
        proofs=proved.proofs,
        figures=tuple(
            figure(*pair, each)
            for pair in comparison.pairs
            for each in _MEASURED
            if all(_measured(comparison.way(name), each[1]) for name in pair)
        ),
    )


def _measured(way: Way, share: float | None) -> bool:
    return any(phase.share == share and not phase.delay for phase in way.phases)


def _rate(block: Block) -> float:
    return block.rate


def _p50(block: Block) -> float:
    return block.p50


def _transaction(block: Block) -> float:
    return block.transaction


def _positive(values: Sequence[Sequence[float]]) -> bool:
    """Return whether values are large enough to be measured, so that they have a ratio."""
    return all(v > 0 for each in values for v in each)


def _is_fed(comparison: Comparison) -> bool:
    """Return whether the reader times the throughput, and not the producer."""
    return any(way.fed is not None for way in comparison.ways)


def _coarse(found: Estimate) -> Estimate:
    """Return a ratio with an interval that is not narrower than ratios are precise."""
    least, most = found.low / (1 + _PRECISION), found.high * (1 + _PRECISION)
    return replace(found, low=least, high=most)


def _same(sure: Estimate, usual: Estimate) -> Verdict:
    if not sure.contains(1.0):
        return "wrong"
    return "right" if _narrow_ratio(usual) else "not resolved"


def _no_later(sure: Estimate, usual: Estimate, known: float, *, delay: float) -> Verdict:
    """Judge a difference that should be 0, as narrowly as that of a known delay."""
    if sure.low > known + _FINEST or sure.high < known - _FINEST:
        return "wrong"
    return "right" if usual.high - usual.low <= _WIDEST_DELAY * delay else "not resolved"


def _narrow_ratio(found: Estimate) -> bool:
    return found.high / found.low <= _WIDEST_RATIO


def _narrow_seconds(found: Estimate) -> bool:
    return found.high - found.low <= max(_FINEST, abs(found.value) / 2)


_COMPARE: Final = {"ratio": (ratio, _narrow_ratio), "seconds": (difference, _narrow_seconds)}
_MEASURED: Final[tuple[_Measured, ...]] = (
    ("throughput", None, "ratio", _rate),
    ("client", None, "ratio", lambda b: b.client / b.sent),
    ("brokers", None, "ratio", lambda b: b.brokers / b.sent),
    ("written", None, "ratio", lambda b: b.written / b.sent),
    *(
        each
        for share in SHARES
        for each in (
            ("p50", share, "seconds", _p50),
            ("p99", share, "seconds", lambda b: b.p99),
            ("stall", share, "seconds", lambda b: b.stall),
        )
    ),
)
"""What is compared of each pair of ways: name, share, unit, and the value of a block."""
