"""Measurements that are made up, with known truths."""

from __future__ import annotations

import random
from collections.abc import Mapping

from onceproof.harness.cost.block import Block
from onceproof.harness.cost.pipelines import AT_LEAST_ONCE, EXACTLY_ONCE
from onceproof.harness.cost.producers import (
    IDEMPOTENT,
    LATE,
    PLAIN,
    PLAIN_AGAIN,
    TRANSACTIONAL,
)
from onceproof.harness.cost.ways import NAP, Comparison

RATES: Mapping[str, float] = {
    PLAIN: 2000.0, PLAIN_AGAIN: 2000.0, IDEMPOTENT: 1980.0, TRANSACTIONAL: 1800.0, LATE: 1720.0,
    AT_LEAST_ONCE: 1600.0, f"{AT_LEAST_ONCE}-again": 1600.0, EXACTLY_ONCE: 1200.0,
}  # fmt: skip
LATENCY: Mapping[str, float] = {TRANSACTIONAL: 0.060, LATE: 0.065, EXACTLY_ONCE: 0.080}
_LEAST = 0.004


def blocks(
    comparison: Comparison,
    *,
    noise: float = 0.01,
    rates: Mapping[str, float] = RATES,
    slept: float = NAP,
    shown: float = NAP,
    delayed: float | None = None,
    jitter: float = 0.0,
    rounds: int = 12,
    behind: int = 0,
    written: int = 1_000_000,
    seed: int = 5,
) -> list[Block]:
    """A measurement.

    Args:
        slept: what the twin says that it slept.
        shown: what its transactions take longer.
        jitter: what the neighbours add to latencies, about.
        delayed: by how much latencies of delayed records are greater; None: as they should be.
    """
    draw, found = random.Random(seed), []
    for number in range(-1, rounds):
        for way in comparison.ways:
            for phase in way.phases:
                seconds = draw.gauss(1, noise)
                late = shown if way.nap else 0.0
                latency = LATENCY.get(way.name, _LEAST) * draw.gauss(1, noise)
                later = phase.delay if delayed is None or not phase.delay else delayed
                later += abs(draw.gauss(0, jitter))
                found.append(
                    Block(
                        way=way.key,
                        round=number,
                        share=phase.share,
                        delay=phase.delay,
                        sent=int(rates.get(way.name, 1800.0) * seconds * draw.gauss(1, noise)),
                        seconds=seconds,
                        transactions=9 if way.interval else 0,
                        transaction=(0.11 + late) * draw.gauss(1, noise / 5),
                        napped=slept if way.nap else 0.0,
                        late=0.001,
                        stall=0.02 * draw.gauss(1, noise),
                        p50=latency + later,
                        p99=2 * latency + later,
                        client=0.5 * draw.gauss(1, noise),
                        brokers=0.7 * draw.gauss(1, noise),
                        written=written,
                        behind=behind,
                        file=f"{way.key}-{number}",
                    )
                )
    return found


def latencies(block: Block) -> list[int]:
    """Latencies of a block, in nanoseconds, with its percentiles."""
    return [int((block.p50 + (n - 50) / 100 * block.p50) * 1e9) for n in range(1, 101)]
