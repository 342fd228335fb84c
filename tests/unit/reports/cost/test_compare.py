"""The difference between two measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onceproof.commands import diff as command
from onceproof.harness.cost.producers import TRANSACTIONAL
from onceproof.reports.cost.compare import compare_costs, lines
from onceproof.reports.cost.model import CostReport
from tests.unit.harness.cost.made import RATES
from tests.unit.reports.cost.test_page import report

SLOWER = {**RATES, TRANSACTIONAL: 1200.0}


def test_equal_measurements_do_not_differ() -> None:
    made = report("java")
    found = compare_costs(made, made)
    assert {row.change for row in found.rows} == {"same"}
    assert not found.worse
    assert not found.missing
    assert not found.circumstances
    assert next(lines(found)).startswith("0 of ")


def test_less_throughput_is_worse_and_more_is_better() -> None:
    usual, slower = report("java"), report("java", rates=SLOWER)
    found = compare_costs(usual, slower)
    changed = {(row.pair, row.what): row for row in found.rows if row.change == "less"}
    row = changed["transactional instead of plain", "throughput"]
    assert row.worse
    assert "WORSE " in "\n".join(lines(found))
    back = compare_costs(slower, usual)
    row = next(r for r in back.rows if (r.pair, r.what) == (row.pair, row.what))
    assert (row.change, row.worse) == ("more", False)
    # Each record of the slower one costs more processor time, which is worse.
    assert {r.change for r in found.rows if "processor" in r.what and r.worse} == {"more"}


def test_unresolved_figures_are_not_compared() -> None:
    found = compare_costs(report("java"), report("java", noise=0.3, jitter=0.05))
    assert {row.change for row in found.rows} == {"not resolved"}
    assert not found.resolved


def test_circumstances_and_missing_comparisons_are_told() -> None:
    found = compare_costs(
        report("java"), report("java", "streams").model_copy(update={"host": {"cores": "4"}})
    )
    said = "\n".join(lines(found))
    assert "streams was measured once only" in said
    assert "differs: machine: cores: 2 → 4" in said


def written(folder: Path, made: CostReport) -> Path:
    folder.mkdir()
    (folder / "cost.json").write_text(made.model_dump_json())
    return folder


def test_command_tells_the_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = written(tmp_path / "a", report("java"))
    slower = written(tmp_path / "b", report("java", rates=SLOWER))
    noisy = written(tmp_path / "c", report("java", noise=0.3, jitter=0.05))
    other = written(tmp_path / "d", report("streams"))
    data = tmp_path / "diff.json"
    assert command.diff(usual, usual, by=None, json=None, html=None) == 0
    assert command.diff(usual, slower / "cost.json", by=None, json=data, html=None) == 1
    assert json.loads(data.read_text())["format"] == "onceproof-cost-diff/1"
    assert command.diff(usual, noisy, by=None, json=None, html=None) == 5
    assert command.diff(usual, other, by=None, json=None, html=None) == 3
    assert command.diff(usual, slower, by="record", json=None, html=None) == 2
    assert "--by is for runs, not for measurements" in capsys.readouterr().err
    (slower / "cost.json").write_text("{}")
    assert command.diff(usual, slower, by=None, json=None, html=None) == 2
