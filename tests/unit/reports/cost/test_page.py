"""The page of a measurement, and its data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from onceproof.harness.cost.grid import INTERVALS, comparisons
from onceproof.harness.cost.producers import PLAIN_AGAIN
from onceproof.harness.cost.ways import Setup
from onceproof.reports.cost.build import comparison_part
from onceproof.reports.cost.model import CostReport, is_cost, load_cost
from onceproof.reports.cost.page import render
from onceproof.reports.cost.series import all_series
from onceproof.reports.write import UnreadableReport
from tests.unit.harness.cost.made import RATES, blocks, latencies


def report(*targets: str, full: bool = False, **options: object) -> CostReport:
    return made(targets, full, options) if options else usual(targets, full)


@cache
def usual(targets: tuple[str, ...], full: bool) -> CostReport:
    return made(targets, full, {})


def made(targets: tuple[str, ...], full: bool, options: Mapping[str, object]) -> CostReport:
    return CostReport(
        started_at="2026-11-30T10:00:00+00:00",
        seconds=600.0,
        rounds=12,
        block_seconds=1.0,
        seed=1,
        host={"cores": "2"},
        versions={"kafka": "4.2.0"},
        comparisons=tuple(
            comparison_part(target, each, blocks(each, **options), latencies, capacity=900.0)  # type: ignore[arg-type]
            for target in targets
            for each in comparisons(target, Setup(commit_every=INTERVALS), full=full)
        ),
    )


def test_page_shows_every_comparison() -> None:
    found = report("java", "streams")
    page = render(found)
    assert page.count("<article>") == 2
    assert found.comparisons[0].headline in page
    assert page.count('class="verdict v-holds"') == 13
    assert "Latencies at 80% load" in page
    assert page.count("Latencies at other loads") == 2
    assert "onceproof" in page.split("</title>")[0]
    assert "http" not in page.split("</style>")[1].replace("http-equiv", "")


def test_page_of_an_invalid_measurement_has_no_figures() -> None:
    page = render(report("java", rates={**RATES, PLAIN_AGAIN: 1800.0}))
    assert '<header class="v-invalid">' in page
    assert "not resolved" in page
    assert "Latencies at other loads" not in page
    assert ">× 0.9" not in page.split("Ratios and differences")[1].split("</article>")[0]


def test_series_have_every_measured_value() -> None:
    found = {(s.title, s.setting): s for s in all_series(report("librdkafka", full=True))}
    throughput = {setting: s for (title, setting), s in found.items() if "Throughput" in title}
    labels = {setting: [p.label for p in s.points] for setting, s in throughput.items()}
    assert labels == {
        "milliseconds between commits": ["10", "100", "1,000"],
        "records per transaction": ["1", "10", "100", "1,000", "10,000"],
        "bytes of a record": ["100", "1,024", "10,240"],
        "partitions": ["1", "3", "10", "100"],
        "linger.ms": ["0", "5", "50"],
    }
    assert len(found) == 2 * len(throughput)


def test_default_has_a_series_of_intervals_only() -> None:
    assert {s.setting for s in all_series(report("java"))} == {"milliseconds between commits"}


def test_report_can_be_read_again(tmp_path: Path) -> None:
    written = report("streams")
    (tmp_path / "cost.json").write_text(written.model_dump_json())
    assert is_cost(tmp_path)
    assert is_cost(tmp_path / "cost.json")
    assert load_cost(tmp_path) == load_cost(tmp_path / "cost.json") == written


def test_unreadable_reports_are_refused(tmp_path: Path) -> None:
    assert not is_cost(tmp_path)
    with pytest.raises(UnreadableReport, match="No such file"):
        load_cost(tmp_path)
    (tmp_path / "cost.json").write_text('{"format": "onceproof-cost/1"}')
    with pytest.raises(UnreadableReport, match="is not onceproof-cost/1: started_at: Field req"):
        load_cost(tmp_path)
