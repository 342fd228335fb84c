"""Results, summaries and progress on a terminal and in a pipe."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.checkers.model import Verdict
from onceproof.harness.history import events
from onceproof.reports.build import build
from onceproof.reports.console import SoakRow, live, print_result, print_summary
from onceproof.reports.html import render
from onceproof.reports.model import Report
from tests.unit.reports.test_html import Page

SECOND = 1_000_000_000


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def squeezed(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_result_is_plain_in_a_pipe(small_report: Report) -> None:
    out = io.StringIO()
    print_result(small_report, out, Path("runs/x"))
    assert squeezed(out.getvalue()) == [
        small_report.headline,
        "",
        "claim verdict as expected? why",
        "exactly-once payments → ledger violated yes Because.",
        "at-least-once payments → ledger holds yes Because.",
        "",
        "fault when what until took effect?",
        "1-kill at half of progress kill it restarted yes",
        "",
        "duplicate-output: 1 finding",
        "Record p0-1 appears twice in ledger.",
        "replayed-batch: batch 7 was executed again (fault 1-kill)",
        "",
        "took 20.0 s",
        "report runs/x/report.html",
        "data runs/x/report.json",
        "repeat onceproof run small --seed 7",
    ]


@pytest.mark.parametrize(("required", "answer"), [(True, "NO"), (False, "no")])
def test_schedule_lists_faults_that_were_never_reached(
    small_report: Report, required: bool, answer: str
) -> None:
    (step,) = small_report.run.schedule
    never = step.model_copy(update={"fault": "2-cut", "required": required})
    run = small_report.run.model_copy(update={"schedule": (step, never)})
    out = io.StringIO()
    print_result(small_report.model_copy(update={"run": run}), out)
    assert f"2-cut at half of progress kill it restarted {answer}" in squeezed(out.getvalue())


def test_no_color_disables_colour_on_a_terminal(
    small_report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured, uncoloured = Terminal(), Terminal()
    print_result(small_report, coloured)
    monkeypatch.setenv("NO_COLOR", "1")
    print_result(small_report, uncoloured)
    assert "\x1b[1;31m" in coloured.getvalue()
    assert "31m" not in uncoloured.getvalue()


def test_marks_unexpected_verdict_and_missed_mutation(small: SimpleNamespace) -> None:
    history = small.history()
    judgement = small.judgement(history)
    missed = type(judgement.mutation_check[0])(
        name="effect copied", target="x", must_find="duplicate-output", found=False, detail=""
    )
    claim = small.judged("exactly-once", Verdict.INVALID, expected=False)
    judgement = type(judgement)(claims=(claim,), findings=(), mutation_check=(missed,))
    ended = history["phases"].to_pylist()
    history["phases"] = small.arrow("phases", [*ended, ended[-1] | {"phase": "settle"}])
    out = io.StringIO()
    report = build(small.record(), history, judgement)
    print_result(report, out)
    assert "NO (invalid)" in out.getvalue()
    assert "Mutation self-check failed, mutations not found: effect copied" in out.getvalue()
    assert "They missed 1 of 1: the verdict cannot be trusted." in Page(render(report)).words
    # In an interrupted run, a mutation may be missed.
    history["phases"] = small.arrow("phases", [*ended, ended[-1] | {"outcome": "interrupted"}])
    out = io.StringIO()
    report = build(small.record(), history, judgement)
    print_result(report, out)
    assert "Mutation self-check" not in out.getvalue()
    assert "They found all but 1 of 1: in an incomplete history" in Page(render(report)).words


def test_escapes_control_sequences_of_records(small: SimpleNamespace) -> None:
    name = "x\x1b]0;owned\x07\u202e[red]"
    history = small.history(name)
    report = build(small.record(), history, small.judgement(history, name))
    out = io.StringIO()
    print_result(report, out)
    assert "\x1b" not in out.getvalue()
    assert "\\x1b]0;owned\\x07\\u202e[red]" in out.getvalue()


def test_summary_has_a_table_per_scenario() -> None:
    rows = [
        SoakRow(run=f"{s}-{n}", seed=s, scenario=n, claim=c, verdict=Verdict.HOLDS, expected=e)
        for n, s, c, e in (
            ("guarded", 1, "eo", True),
            ("guarded", 1, "alo", True),
            ("guarded", 2, "eo", False),
            ("other", 2, "eo", True),
        )
    ]
    out = io.StringIO()
    print_summary(rows, out)
    assert [line for line in squeezed(out.getvalue()) if line] == [
        "guarded",
        "seed eo alo",
        "1 holds holds",
        "2 holds (unexpected) –",
        "other",
        "seed eo",
        "2 holds",
        "3 runs, 2 as expected",
        "not as expected: seed 2, guarded",
    ]


def stream() -> list[events.Event]:
    """A small run as events."""
    progress = [
        events.Progress(
            at=SECOND + i * SECOND // 10,
            acknowledged=i,
            total=1000,
            pipeline=f"micro-batch {i // 10}",
        )
        for i in range(50)
    ]
    hazards = [
        events.HazardObserved(at=7 * SECOND, hazard="retried-send", detail=f"attempt {i}")
        for i in range(12)
    ]
    return [
        events.RunStarted(
            at=0, run="r", folder=Path("runs/r"), scenario="small", title="A run", seed=7
        ),
        events.PhaseStarted(at=SECOND, phase="disturb"),
        *progress,
        events.FaultChanged(
            at=6 * SECOND, fault="1-kill", kind="crash", state="took effect", detail="9"
        ),
        *hazards,
        events.InstanceChanged(at=8 * SECOND, instance="driver-2", state="started"),
        events.PhaseEnded(
            at=9 * SECOND, phase="disturb", outcome="stalled", detail="no batch", seconds=8.0
        ),
        events.RunEnded(
            at=10 * SECOND, folder=Path("runs/r"), exit_code=4, seconds=10.0, message="it stalled"
        ),
    ]


def test_progress_is_plain_lines_in_a_pipe() -> None:
    err = io.StringIO()
    with live(err) as handle:
        for event in stream():
            handle(event)
    assert squeezed(err.getvalue()) == [
        "0.0 s run small, seed 7: A run (runs/r)",
        "1.0 s phase disturb",
        "1.0 s progress 0 of 1 000 acknowledged (0 %), micro-batch 0",
        "3.0 s progress 20 of 1 000 acknowledged (2 %), micro-batch 2",
        "5.0 s progress 40 of 1 000 acknowledged (4 %), micro-batch 4",
        "6.0 s fault 1-kill took effect: 9",
        "7.0 s hazard retried-send: attempt 0",
        "7.0 s hazard retried-send: attempt 1",
        "7.0 s hazard retried-send: attempt 2",
        "7.0 s hazard retried-send: attempt 9 (10 so far)",
        "8.0 s process driver-2 started",
        "9.0 s phase disturb stalled: no batch",
        "10.0 s end it stalled",
    ]
