"""Histories of many shapes, and the report of queries that grow faster than their rows."""

from __future__ import annotations

import pytest

from benchmarks import shapes
from benchmarks.shape_histories import SHAPES, history
from benchmarks.shapes import Cost
from onceproof.checkers import ordered_append
from onceproof.checkers.judging import find


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_makes_a_history(shape: str) -> None:
    made = history(shape, 320)
    assert made.rows("sends") == made.rows("log") == 320
    find(made, ordered_append("input"), only=())


def cost(seconds: float, *, rows: int = 0, peak: int = 0) -> Cost:
    return Cost(query="q", rows=rows, seconds=seconds, peak=peak)


@pytest.mark.parametrize(
    ("before", "after", "times"),
    [
        (cost(1), cost(4), 4.0),
        (cost(1, peak=300_000_000), cost(2, peak=1_500_000_000), 5.0),
        (cost(1, rows=10), cost(4, rows=40), 2.0),
        (cost(0.01), cost(0.4), 0.0),
    ],
    ids=["time", "memory", "relative to its rows", "below the threshold"],
)
def test_growth_of_time_or_memory_is_relative_to_rows(
    before: Cost, after: Cost, times: float
) -> None:
    assert shapes._grew(before, after) == pytest.approx(times)


def test_query_that_is_given_up_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--records", "2000", "--only", "many keys"]
    assert shapes.main(few) == 0
    assert "\n0 queries grow" in capsys.readouterr().out
    given_up = Cost(query="q", rows=0, seconds=9, peak=0, whole=False)
    monkeypatch.setattr(shapes, "_costs", lambda *_: {"q": given_up})
    assert shapes.main(few) == 1
    assert "many keys: q: given up after 9 s" in capsys.readouterr().out
