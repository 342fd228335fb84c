"""What a measurement says, after it has proved its instrument.

Proofs are made in each measurement. The base is measured twice, as if it were two ways: their ratio
must contain 1. In one phase its records are sent later than they are due: the difference in latency
must contain that delay. Of producers, a twin of the transactional one sleeps after each commit: the
difference in time per transaction must contain what the twin slept. A proof that is wrong makes the
measurement invalid. One whose interval is too wide leaves what it vouches for unresolved: the first
one all ratios, the others all times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

from onceproof.harness.cost.block import Block
from onceproof.harness.cost.estimate import Estimate, difference, ratio
from onceproof.harness.cost.ways import SHARES, Comparison, Phase, Way

Verdict = Literal["right", "wrong", "not resolved"]
Unit = Literal["ratio", "seconds"]
_Measured = tuple[str, float | None, Unit, Callable[[Block], float]]
_WIDEST_RATIO: Final = 1.25
"""The largest high/low of a ratio that is told."""
_FINEST: Final = 0.002
"""Seconds; a narrower interval of a latency is told even if the latency is smaller."""
_SURE: Final = 0.99
"""Confidence of the proofs: they are made in every measurement, and are to be wrong rarely."""
_ERROR: Final = 0.1
"""Part by which a known delay may be missed."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One comparison of two ways.

    Attributes:
        what: `throughput`, `p50`, `p99`, `stall`, `client`, `brokers` or `written`.
        share: part of the slowest way's capacity at which it was measured; None: at capacity.
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
        known: the true value.
    """

    what: str
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

    def vouched(self, unit: Unit) -> bool:
        """Return whether figures of this unit may be told."""
        return self.valid and all(p.verdict == "right" for p in self.proofs if p.unit == unit)


def findings(comparison: Comparison, blocks: Sequence[Block]) -> Findings:
    """Judge the blocks of one comparison.

    Raises:
        ValueError: a way has no blocks.
    """

    def of(name: str, phase: Phase, value: Callable[[Block], float]) -> list[float]:
        where = (f"{comparison.name}-{name}", phase.share, phase.delay)
        rounds = (b for b in blocks if b.round >= 0 and (b.way, b.share, b.delay) == where)
        return [value(block) for block in sorted(rounds, key=lambda b: b.round)]

    def proofs() -> tuple[Proof, ...]:
        base, full = comparison.base, Phase()
        same = ratio(of(base, full, _rate), of(comparison.again, full, _rate), confidence=_SURE)
        delayed, known = comparison.delayed, comparison.delayed.delay
        later = difference(
            of(base, Phase(share=delayed.share), _p50), of(base, delayed, _p50), confidence=_SURE
        )
        found = [
            Proof(what="same", unit="ratio", known=1.0, estimate=same, verdict=_same(same)),
            Proof(
                what="delay",
                unit="seconds",
                known=known,
                estimate=later,
                verdict=_later(later, known),
            ),
        ]
        if comparison.twin is not None:
            way, late = comparison.twin
            phase = comparison.way(late).phases[-1]
            slept = median(of(late, phase, lambda b: b.napped) or [0.0])
            more = difference(
                of(way, phase, _transaction), of(late, phase, _transaction), confidence=_SURE
            )
            verdict = _later(more, slept)
            found.append(
                Proof(what="twin", unit="seconds", known=slept, estimate=more, verdict=verdict)
            )
        return tuple(found)

    proved = Findings(comparison=comparison, proofs=proofs(), figures=())

    def figure(base: str, other: str, measured: _Measured) -> Figure:
        what, share, unit, value = measured
        compare, narrow = _COMPARE[unit]
        phase = Phase(share=share)
        values = of(base, phase, value), of(other, phase, value)
        found = (
            compare(*values)
            if unit == "seconds" or all(min(each, default=1) > 0 for each in values)
            else None
        )
        behind = [each for way in (base, other) for each in of(way, phase, lambda b: b.behind)]
        kept_up = unit == "ratio" or not any(behind)
        return Figure(
            base=base,
            other=other,
            what=what,
            share=share,
            unit=unit,
            estimate=found,
            resolved=found is not None and proved.vouched(unit) and kept_up and narrow(found),
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


def _same(found: Estimate) -> Verdict:
    if not found.contains(1.0):
        return "wrong"
    return "right" if _narrow_ratio(found) else "not resolved"


def _later(found: Estimate, known: float) -> Verdict:
    if found.contains(0.0):
        return "not resolved"
    least, most = known * (1 - _ERROR), known * (1 + _ERROR)
    return "right" if found.low <= most and found.high >= least else "wrong"


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
