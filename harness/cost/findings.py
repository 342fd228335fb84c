"""What a measurement says, after it has proved its instrument.

Two proofs are made in each measurement. The plain way is measured twice, as if it were two ways:
their ratio must contain 1. A twin of the transactional way sleeps after each commit: the
difference in time per transaction must contain what the twin slept. A proof that is wrong makes the
measurement invalid. One whose interval is too wide leaves what it vouches for unresolved: the first
one all ratios, the second one all times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Final, Literal

from onceproof.harness.cost.estimate import Estimate, difference, ratio
from onceproof.harness.cost.rounds import PROOF_SHARE, SHARES, Block
from onceproof.harness.cost.ways import (
    IDEMPOTENT,
    LATE,
    PLAIN,
    PLAIN_AGAIN,
    TRANSACTIONAL,
    Client,
)

Proof = Literal["right", "wrong", "not resolved"]
Unit = Literal["ratio", "seconds"]
_Measured = tuple[str, float | None, Unit, Callable[[Block], float]]
PAIRS: Final = ((PLAIN, IDEMPOTENT), (PLAIN, TRANSACTIONAL), (IDEMPOTENT, TRANSACTIONAL))
_WIDEST_RATIO: Final = 1.25
"""The largest high/low of a ratio that is told."""
_FINEST: Final = 0.002
"""Seconds; a narrower interval of a latency is told even if the latency is smaller."""
_SURE: Final = 0.99
"""Confidence of the proofs: they are made in every measurement, and are to be wrong rarely."""
_NAP_ERROR: Final = 0.1
"""Part by which a twin's sleep may be missed."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One comparison of two ways.

    Attributes:
        what: `throughput`, `p50`, `p99`, `client` or `brokers`.
        share: part of the slowest way's capacity at which it was measured; None: at capacity.
        unit: `ratio` or `seconds`.
        resolved: whether the interval is narrow enough to tell the value, and the reader kept up.
    """

    base: str
    other: str
    what: str
    share: float | None
    unit: Unit
    estimate: Estimate
    resolved: bool


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What is known of one client's ways.

    Attributes:
        same: ratio of the plain way to itself.
        same_proof: whether it contains 1.
        twin: time per transaction that the twin needs more, in seconds.
        slept: time per transaction that the twin slept, in seconds.
    """

    client: Client
    same: Estimate
    same_proof: Proof
    twin: Estimate
    slept: float
    twin_proof: Proof
    figures: tuple[Figure, ...]

    @property
    def valid(self) -> bool:
        return "wrong" not in (self.same_proof, self.twin_proof)

    @property
    def proved(self) -> bool:
        return self.same_proof == self.twin_proof == "right"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def findings(client: Client, blocks: Sequence[Block]) -> Findings:
    """Judge the blocks of one client.

    Raises:
        ValueError: a way has no blocks.
    """

    def of(way: str, share: float | None, value: Callable[[Block], float]) -> list[float]:
        rounds = sorted(
            (b for b in blocks if b.way == f"{client}-{way}" and b.share == share),
            key=lambda b: b.round,
        )
        return [value(b) for b in rounds]

    def rate(way: str) -> list[float]:
        return of(way, None, lambda b: b.rate)

    def per_transaction(way: str) -> list[float]:
        return of(way, PROOF_SHARE, lambda b: b.transaction)

    same = ratio(rate(PLAIN), rate(PLAIN_AGAIN), confidence=_SURE)
    twin = difference(per_transaction(TRANSACTIONAL), per_transaction(LATE), confidence=_SURE)
    naps = of(LATE, PROOF_SHARE, lambda b: b.napped)
    slept = median(naps) if naps else 0.0
    same_proof, twin_proof = _same(same), _twin(twin, slept)
    vouched = {"ratio": same_proof, "seconds": twin_proof}
    valid = "wrong" not in vouched.values()

    def figure(base: str, other: str, measured: _Measured) -> Figure:
        what, share, unit, value = measured
        compare, narrow = _COMPARE[unit]
        found = compare(of(base, share, value), of(other, share, value))
        behind = [each for way in (base, other) for each in of(way, share, lambda b: b.behind)]
        kept_up = unit == "ratio" or not any(behind)
        return Figure(
            base=base,
            other=other,
            what=what,
            share=share,
            unit=unit,
            estimate=found,
            resolved=valid and vouched[unit] == "right" and kept_up and narrow(found),
        )

    return Findings(
        client=client,
        same=same,
        same_proof=same_proof,
        twin=twin,
        slept=slept,
        twin_proof=twin_proof,
        figures=tuple(figure(*pair, measured) for pair in PAIRS for measured in _MEASURED),
    )


def _same(found: Estimate) -> Proof:
    if not found.contains(1.0):
        return "wrong"
    return "right" if _narrow_ratio(found) else "not resolved"


def _twin(found: Estimate, slept: float) -> Proof:
    if found.contains(0.0):
        return "not resolved"
    least, most = slept * (1 - _NAP_ERROR), slept * (1 + _NAP_ERROR)
    return "right" if found.low <= most and found.high >= least else "wrong"


def _narrow_ratio(found: Estimate) -> bool:
    return found.high / found.low <= _WIDEST_RATIO


def _narrow_seconds(found: Estimate) -> bool:
    return found.high - found.low <= max(_FINEST, abs(found.value) / 2)


_COMPARE: Final = {"ratio": (ratio, _narrow_ratio), "seconds": (difference, _narrow_seconds)}
_MEASURED: Final[tuple[_Measured, ...]] = (
    ("throughput", None, "ratio", lambda b: b.rate),
    ("client", None, "ratio", lambda b: b.client / b.sent),
    ("brokers", None, "ratio", lambda b: b.brokers / b.sent),
    *(
        each
        for share in SHARES
        for each in (
            ("p50", share, "seconds", lambda b: b.p50),
            ("p99", share, "seconds", lambda b: b.p99),
        )
    ),
)
"""What is compared of each pair of ways: name, share, unit, and the value of a block."""
