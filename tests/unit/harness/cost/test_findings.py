"""What a measurement says: proofs first, and no number from an interval that is too wide."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from onceproof.harness.cost.findings import PAIRS, Findings, findings
from onceproof.harness.cost.rounds import PROOF_SHARE, SHARES, Block, percentile
from onceproof.harness.cost.ways import (
    IDEMPOTENT,
    LATE,
    NAP,
    PLAIN,
    PLAIN_AGAIN,
    TRANSACTIONAL,
    Setup,
)
from onceproof.reports.cost.text import NOT_RESOLVED, headline, lines

RATES = {
    PLAIN: 1000.0, PLAIN_AGAIN: 1000.0, IDEMPOTENT: 990.0, TRANSACTIONAL: 900.0, LATE: 860.0,
}  # fmt: skip
LATENCY = {PLAIN: 0.004, PLAIN_AGAIN: 0.004, IDEMPOTENT: 0.004, TRANSACTIONAL: 0.060, LATE: 0.065}


def blocks(
    *,
    noise: float = 0.01,
    rates: Mapping[str, float] = RATES,
    slept: float = NAP,
    shown: float = NAP,
    rounds: int = 12,
    behind: int = 0,
    seed: int = 5,
) -> list[Block]:
    """A measurement; `slept`: what the twin says, `shown`: what its transactions take more."""
    draw, found = random.Random(seed), []
    for number in range(rounds):
        for way, rate in rates.items():
            every = 0.11 + (shown if way == LATE else 0.0)
            for share in (None, PROOF_SHARE, *SHARES):
                seconds = draw.gauss(1, noise)
                transactions = 9 if way in (TRANSACTIONAL, LATE) else 0
                found.append(
                    Block(
                        way=f"java-{way}",
                        round=number,
                        share=share,
                        sent=int(rate * seconds * draw.gauss(1, noise)),
                        seconds=seconds,
                        transactions=transactions,
                        transaction=every * draw.gauss(1, noise / 5) if transactions else 0.0,
                        napped=slept if way == LATE else 0.0,
                        late=0.0,
                        stall=0.1,
                        p50=LATENCY[way] * draw.gauss(1, noise),
                        p99=2 * LATENCY[way] * draw.gauss(1, noise),
                        client=0.5 * draw.gauss(1, noise),
                        brokers=0.7 * draw.gauss(1, noise),
                        behind=behind,
                        number=0,
                    )
                )
    return found


def figure(found: Findings, other: str, what: str, share: float | None = None):
    return next(
        f
        for f in found.figures
        if (f.base, f.other, f.what, f.share) == (PLAIN, other, what, share)
    )


@pytest.mark.parametrize("seed", range(5))
def test_quiet_measurement_tells_its_figures(seed: int) -> None:
    found = findings("java", blocks(seed=seed))
    assert (found.same_proof, found.twin_proof) == ("right", "right")
    throughput = figure(found, TRANSACTIONAL, "throughput")
    assert throughput.resolved
    assert throughput.estimate.value == pytest.approx(0.9, rel=0.01)
    assert throughput.estimate.high < 1
    idempotent = figure(found, IDEMPOTENT, "throughput").estimate
    assert idempotent.value == pytest.approx(0.99, rel=0.01)
    p99 = figure(found, TRANSACTIONAL, "p99", 0.6)
    assert p99.resolved
    assert p99.estimate.value == pytest.approx(0.112, rel=0.02)
    assert {(f.base, f.other) for f in found.figures} == set(PAIRS)
    said = "\n".join(lines(found, Setup()))
    assert said.startswith("java: in this setup, a commit every 100 ms costs ")
    assert "of throughput and 11" in said
    assert "ms of the 99th percentile of latency at 60% load" in said
    assert NOT_RESOLVED not in said


def test_plain_that_differs_from_itself_makes_it_invalid() -> None:
    found = findings("java", blocks(rates={**RATES, PLAIN_AGAIN: 950.0}))
    assert found.same_proof == "wrong"
    assert not found.valid
    assert not any(f.resolved for f in found.figures)
    assert headline(found, Setup()).startswith("java: invalid")


@pytest.mark.parametrize("shown", [0.001, 0.02])
def test_twin_measured_at_another_size_makes_it_invalid(shown: float) -> None:
    found = findings("java", blocks(shown=shown))
    assert found.twin_proof == "wrong"
    assert not found.valid
    assert not any(f.resolved for f in found.figures)


def test_sleep_that_took_longer_is_the_size_to_find() -> None:
    """On a busy machine a sleep of 5 ms takes 8."""
    assert findings("java", blocks(slept=0.008, shown=0.008)).twin_proof == "right"


def test_noise_is_not_resolved_rather_than_wrong() -> None:
    found = findings("java", blocks(noise=0.3))
    assert found.valid
    assert not found.proved
    assert not any(f.resolved for f in found.figures)
    said = "\n".join(lines(found, Setup()))
    assert "costs something that was not resolved" in said
    assert said.count(NOT_RESOLVED) >= len(found.figures)


def test_missing_way_is_refused() -> None:
    with pytest.raises(ValueError, match="0 rounds"):
        findings("librdkafka", blocks())


def test_percentile_is_one_of_the_values() -> None:
    values = [n * 10**9 for n in range(1, 101)]
    assert percentile(values, 0.5) == 51
    assert percentile(values, 0.99) == 100
    assert percentile([10**9], 0.99) == 1


def test_latency_is_not_told_if_the_reader_fell_behind() -> None:
    found = findings("java", blocks(behind=1))
    assert {f.what for f in found.figures if f.resolved} == {"throughput", "client", "brokers"}
