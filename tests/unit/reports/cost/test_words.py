"""The words of a measurement."""

from __future__ import annotations

import re

from onceproof.harness.cost import pipelines, producers
from onceproof.harness.cost.producers import PLAIN_AGAIN
from onceproof.harness.cost.ways import Comparison, Setup
from onceproof.reports.cost.build import comparison_part
from onceproof.reports.cost.model import ComparisonPart
from onceproof.reports.cost.text import lines
from onceproof.reports.cost.words import NOT_RESOLVED
from tests.unit.harness.cost.made import RATES, blocks, latencies


def part(comparison: Comparison, **options: object) -> ComparisonPart:
    made = blocks(comparison, **options)  # type: ignore[arg-type]
    return comparison_part(comparison.name, comparison, made, latencies, capacity=900.0)


def test_headline_tells_throughput_and_latency() -> None:
    found = part(producers.comparison_of("java", Setup()))
    assert re.match(
        r"java: in this setup, a commit every 100 ms costs \d+% to 1\d% of throughput and 11\d to "
        r"11\d ms of the 99th percentile of latency at 60% load, against ",
        found.headline,
    )
    assert found.headline.endswith("against a plain producer with acks=all")
    said = "\n".join(lines(found))
    assert "proof: throughput of plain against itself: × 1, measured as × " in said
    assert "proof: records sent 20 ms after they were due, measured as +" in said
    assert "proof: a sleep of 5.0 ms after each commit, measured as +" in said
    assert "proof: median latency at 60% load of plain against itself: 0 ms, measured" in said
    assert said.count(": right") == 7
    assert NOT_RESOLVED not in said


def test_headline_of_counted_transactions_and_pipelines() -> None:
    counted = producers.comparison_of("java", Setup(commit_records=1000))
    assert "a commit after every 1,000 records costs" in part(counted).headline
    single = producers.comparison_of("java", Setup(commit_records=1))
    assert "a commit per record costs" in part(single).headline
    streams = part(pipelines.comparison_of("streams", Setup())).headline
    told = re.search(r"a commit every 100 ms costs (\d+)% to (\d+)% of throughput", streams)
    assert told is not None
    least, most = map(int, told.groups())
    assert 22 <= least <= 25 <= most <= 28
    assert streams.endswith("against at-least-once")


def test_invalid_measurement_tells_no_cost() -> None:
    found = part(producers.comparison_of("java", Setup()), rates={**RATES, PLAIN_AGAIN: 1800.0})
    assert not found.valid
    assert found.headline.startswith("java: invalid")
    assert "wrong" in "\n".join(lines(found))


def test_noise_is_told_as_such() -> None:
    found = part(producers.comparison_of("java", Setup()), noise=0.3, jitter=0.05)
    assert "costs something that was not resolved" in found.headline
    assert "\n".join(lines(found)).count(NOT_RESOLVED) >= len(found.figures)


def test_ways_have_rates_and_curves() -> None:
    found = part(producers.comparison_of("java", Setup()))
    ways = {way.name: way for way in found.ways}
    assert abs(ways["plain"].rate - 2000) < 100
    assert ways["transactional-late"].rate == 0
    curve = next(c for c in ways["transactional"].curves if c.share == 0.6)
    percents = [percent for percent, _ in curve.percentiles]
    assert percents == sorted(percents)
    assert percents[0] == 0
    assert percents[-1] == 100
    assert 99.99 not in percents  # with 1,300 records
    seconds = [s for _, s in curve.percentiles]
    assert seconds == sorted(seconds)
