"""Build the report of a comparison from its blocks."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from statistics import median
from typing import Final

from onceproof.harness.cost.block import Block, percentile
from onceproof.harness.cost.findings import LATENCY, Findings, findings
from onceproof.harness.cost.ways import Comparison, Way
from onceproof.reports.cost.model import ComparisonPart, CurvePart, SetupPart, WayPart
from onceproof.reports.cost.words import headline

PERCENTS: Final = (
    0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 100.0,
)  # fmt: skip
_TAIL: Final = 10
"""Fewest records beyond a percentile that is told."""
Latencies = Callable[[Block], Iterable[int]]
"""Return the latencies of a block in nanoseconds."""


def comparison_part(
    target: str,
    comparison: Comparison,
    blocks: Sequence[Block],
    latencies: Latencies,
    *,
    capacity: float,
) -> ComparisonPart:
    """Judge the blocks and return what is told about them.

    Raises:
        ValueError: a way has no blocks, or too few rounds.
    """
    found = findings(comparison, blocks)
    told = found.vouched(LATENCY)
    ways = tuple(_way(way, blocks, latencies, told) for way in comparison.ways)
    made = _part(target, found, ways, capacity)
    return made.model_copy(update={"headline": headline(made)})


def _part(
    target: str, found: Findings, ways: tuple[WayPart, ...], capacity: float
) -> ComparisonPart:
    return ComparisonPart.model_validate({
        "capacity": capacity,
        "name": found.comparison.name,
        "target": target,
        "headline": "",
        "valid": found.valid,
        "proved": found.proved,
        "setup": SetupPart(**asdict(found.comparison.setup)),
        "proofs": [asdict(proof) for proof in found.proofs],
        "figures": [asdict(figure) for figure in found.figures],
        "ways": ways,
    })  # fmt: skip


def _way(way: Way, blocks: Sequence[Block], latencies: Latencies, told: bool) -> WayPart:
    own = [block for block in blocks if block.way == way.key and block.round >= 0]
    shares = dict.fromkeys(p.share for p in way.phases if p.share is not None and not p.delay)
    return WayPart(
        name=way.name,
        rate=median([b.rate for b in own if b.share is None] or [0.0]),
        behind_schedule=max((b.late for b in own), default=0.0),
        curves=tuple(
            _curve(share, [b for b in own if b.share == share and not b.delay], latencies)
            for share in sorted(shares)
            if told and not any(b.behind for b in own if b.share == share)
        ),
    )


def _curve(share: float, blocks: Sequence[Block], latencies: Latencies) -> CurvePart:
    merged = array("q")
    for block in blocks:
        merged.extend(latencies(block))
    ordered = sorted(merged)
    told = [p for p in PERCENTS if p == 100.0 or len(ordered) * (100 - p) / 100 >= _TAIL]
    return CurvePart(
        share=share,
        records=len(ordered),
        percentiles=tuple((p, percentile(ordered, p / 100)) for p in told) if ordered else (),
    )
