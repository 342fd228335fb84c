"""The output of a bare lab: where to look, and no verdict."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from onceproof.checkers.model import Judgement
from onceproof.reports.bare import failed_phase, print_unjudged
from onceproof.reports.build import build
from onceproof.reports.model import Phase, Report
from tests.unit.reports.conftest import run_record, small_history

UNJUDGED = Judgement(claims=(), findings=(), mutation_check=(), notes=(), counts={})


@pytest.fixture
def report() -> Report:
    return build(run_record(), small_history(), UNJUDGED)


def printed(report: Report) -> str:
    out = io.StringIO()
    print_unjudged(report, out, Path("runs/x"))
    return out.getvalue()


def test_prints_that_nothing_was_judged_and_where_to_look(report: Report) -> None:
    assert report.verdict is None
    assert failed_phase(report) is None
    assert printed(report).splitlines() == [
        "Nothing was judged: a bare lab makes no claims.",
        "1 fault, 1 with a proven effect. The run folder has their times, their evidence and the "
        "logs.",
        "",
        "report   runs/x/report.html",
        "data     runs/x/report.json",
        "history  runs/x/history",
        "logs     runs/x/logs",
        "repeat   onceproof run small --seed 7",
    ]


def test_prints_the_failed_phase(report: Report) -> None:
    phase = Phase(phase="heal", started_at=1, ended_at=2, outcome="failed", detail="still\x1b cut")
    failed = report.model_copy(update={"phases": (*report.phases, phase)})
    assert failed_phase(failed) == phase
    assert "Phase heal failed: still\\x1b cut\n" in printed(failed)
