"""What a measurement says: proofs first, and no number from an interval that is too wide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceproof.harness.cost import pipelines, producers
from onceproof.harness.cost.block import percentile
from onceproof.harness.cost.findings import LATENCY, Figure, Findings, findings
from onceproof.harness.cost.pipelines import AT_LEAST_ONCE, EXACTLY_ONCE
from onceproof.harness.cost.producers import IDEMPOTENT, PLAIN, PLAIN_AGAIN, TRANSACTIONAL
from onceproof.harness.cost.ways import AGAIN_SHARE, Setup
from tests.unit.harness.cost.made import RATES, blocks

JAVA = producers.comparison_of("java", Setup())


def figure(found: Findings, other: str, what: str, share: float | None = None) -> Figure:
    wanted = (found.comparison.base, other, what, share)
    return next(f for f in found.figures if (f.base, f.other, f.what, f.share) == wanted)


def verdicts(found: Findings) -> dict[str, str]:
    return {p.what if p.what == "delay" else p.of: p.verdict for p in found.proofs}


SAME = ("throughput", "client", "brokers", "written")


@pytest.mark.parametrize("seed", range(5))
def test_quiet_measurement_tells_its_figures(seed: int) -> None:
    found = findings(JAVA, blocks(JAVA, seed=seed))
    assert verdicts(found) == dict.fromkeys((*SAME, "latency", "delay", "transaction"), "right")
    assert found.proved
    throughput = figure(found, TRANSACTIONAL, "throughput")
    assert throughput.resolved
    assert throughput.estimate is not None
    assert throughput.estimate.value == pytest.approx(0.9, rel=0.01)
    assert throughput.estimate.high < 1
    idempotent = figure(found, IDEMPOTENT, "throughput").estimate
    assert idempotent is not None
    assert idempotent.value == pytest.approx(0.99, rel=0.01)
    p99 = figure(found, TRANSACTIONAL, "p99", 0.6)
    assert p99.resolved
    assert p99.estimate is not None
    assert p99.estimate.value == pytest.approx(0.112, rel=0.02)
    assert {(f.base, f.other) for f in found.figures} == set(JAVA.pairs)
    assert all(f.resolved for f in found.figures)


def test_pipeline_is_proved_without_a_twin() -> None:
    streams = pipelines.comparison_of("streams", Setup())
    found = findings(streams, blocks(streams))
    assert verdicts(found) == dict.fromkeys((*SAME, "latency", "delay"), "right")
    throughput = figure(found, EXACTLY_ONCE, "throughput").estimate
    assert throughput is not None
    assert throughput.value == pytest.approx(0.75, rel=0.01)
    assert {f.base for f in found.figures} == {AT_LEAST_ONCE}


def test_plain_that_differs_from_itself_makes_it_invalid() -> None:
    found = findings(JAVA, blocks(JAVA, rates={**RATES, PLAIN_AGAIN: 1900.0}))
    assert verdicts(found)["throughput"] == "wrong"
    assert not found.valid
    assert not any(f.resolved for f in found.figures)


@pytest.mark.parametrize("shown", [0.001, 0.02])
def test_twin_measured_at_another_size_makes_it_invalid(shown: float) -> None:
    found = findings(JAVA, blocks(JAVA, shown=shown))
    assert verdicts(found)["transaction"] == "wrong"
    assert not found.valid
    assert not any(f.resolved for f in found.figures)


@pytest.mark.parametrize("delayed", [0.001, 0.06])
def test_delay_measured_at_another_size_makes_it_invalid(delayed: float) -> None:
    found = findings(JAVA, blocks(JAVA, delayed=delayed))
    assert verdicts(found)["delay"] == "wrong"
    assert not found.valid
    assert not any(f.resolved for f in found.figures)


def test_delay_that_is_not_seen_makes_it_invalid() -> None:
    found = findings(JAVA, blocks(JAVA, delayed=0.0))
    assert verdicts(found)["delay"] == "wrong"
    assert not any(f.resolved for f in found.figures)


def test_sleep_that_took_longer_is_the_size_to_find() -> None:
    """On a busy machine a sleep of 5 ms takes 8."""
    found = findings(JAVA, blocks(JAVA, slept=0.008, shown=0.008))
    assert verdicts(found)["transaction"] == "right"


def test_noise_is_not_resolved_rather_than_wrong() -> None:
    found = findings(JAVA, blocks(JAVA, noise=0.3, jitter=0.05))
    assert found.valid
    assert not found.proved
    assert not any(f.resolved for f in found.figures if f.what != "written")


def test_delay_with_a_wide_interval_proves_nothing() -> None:
    """An interval of 0.1 ms to 5 s contains 20 ms."""
    noisy = [replace(b, p50=b.p50 + (b.round % 5) * 0.04 * bool(b.delay)) for b in blocks(JAVA)]
    found = findings(JAVA, noisy)
    assert verdicts(found)["delay"] == "not resolved"
    assert {f.unit for f in found.figures if f.resolved} == {"ratio"}


@pytest.mark.parametrize(("more", "verdict"), [(1.005, "right"), (1.03, "wrong")])
def test_ratio_is_told_to_one_percent_at_best(more: float, verdict: str) -> None:
    """Bytes hardly vary from round to round, but a producer fills its batches differently."""
    other = [
        replace(b, written=int((more if b.way.endswith(PLAIN_AGAIN) else 1.0) * 1_000 * b.sent))
        for b in blocks(JAVA)
    ]
    found = findings(JAVA, other)
    assert verdicts(found)["written"] == verdict
    told = figure(found, IDEMPOTENT, "written").estimate
    assert told is not None
    assert told.high / told.low >= 1.02


@pytest.mark.parametrize(("more", "verdict"), [(0.001, "right"), (0.01, "wrong")])
def test_latency_of_plain_against_itself_is_a_proof(more: float, verdict: str) -> None:
    other = [
        replace(b, p50=b.p50 + more * b.way.endswith(PLAIN_AGAIN) * (b.share == AGAIN_SHARE))
        for b in blocks(JAVA)
    ]
    found = findings(JAVA, other)
    (proof,) = (p for p in found.proofs if p.what == "same" and p.of == LATENCY)
    assert proof.verdict == verdict
    assert found.valid is (verdict == "right")


def test_each_ratio_has_a_proof_of_its_own() -> None:
    """Processor time that is measured wrong is told, although throughput is right."""
    wrong = [
        replace(b, client=2 * b.client) if b.way.endswith(PLAIN_AGAIN) else b for b in blocks(JAVA)
    ]
    assert verdicts(findings(JAVA, wrong))["client"] == "wrong"


def test_p99_needs_enough_records() -> None:
    few = [replace(b, sent=b.sent // 10) for b in blocks(JAVA)]
    told = {f.what for f in findings(JAVA, few).figures if f.resolved}
    assert "p99" not in told
    assert "p50" in told


def test_reader_that_fell_behind_times_no_pipeline() -> None:
    streams = pipelines.comparison_of("streams", Setup())
    found = findings(streams, blocks(streams, behind=1))
    assert {f.what for f in found.figures if f.resolved} == {"client", "brokers", "written"}


def test_warm_up_is_not_counted() -> None:
    made = blocks(JAVA)
    warm = [block for block in made if block.round < 0]
    assert warm
    kept = [block for block in made if block.round >= 0]
    assert findings(JAVA, made).figures == findings(JAVA, kept).figures


def test_missing_way_is_refused() -> None:
    with pytest.raises(ValueError, match="0 turns"):
        findings(producers.comparison_of("librdkafka", Setup()), blocks(JAVA))


def test_percentile_is_one_of_the_values() -> None:
    values = [n * 10**9 for n in range(1, 101)]
    assert percentile(values, 0.5) == 51
    assert percentile(values, 0.99) == 100
    assert percentile([10**9], 0.99) == 1


def test_latency_is_not_told_if_the_reader_fell_behind() -> None:
    found = findings(JAVA, blocks(JAVA, behind=1))
    assert {f.unit for f in found.figures if f.resolved} == {"ratio"}


def test_value_too_small_to_measure_is_no_figure() -> None:
    found = findings(JAVA, blocks(JAVA, written=0))
    assert figure(found, TRANSACTIONAL, "written").estimate is None
    assert not figure(found, TRANSACTIONAL, "written").resolved
    assert figure(found, TRANSACTIONAL, "throughput").resolved


def test_plain_is_named_as_the_base() -> None:
    assert JAVA.base == PLAIN
    assert JAVA.delayed.delay > 0
