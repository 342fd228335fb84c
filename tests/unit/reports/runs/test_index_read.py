"""Run folders are found and read; an unreadable one does not affect the others."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.checkers.model import Verdict
from onceproof.reports.build import build
from onceproof.reports.model import Report
from onceproof.reports.runs.read import NoRuns, read_runs
from onceproof.reports.runs.run import Found, Run, RunState, Unread

NAME = "2025010{}T000000Z-small-7"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    (folder := tmp_path / "runs").mkdir()
    return folder


def write_run(runs: Path, report: Report, place: int = 1, **facts: Any) -> Path:
    """Write a run folder whose report has some facts changed."""
    started = {"started_at": f"2025-01-0{place}T00:00:00Z"}
    changed = report.run.model_copy(update=started | facts)
    folder = runs / NAME.format(place)
    folder.mkdir()
    text = report.model_copy(update={"run": changed}).model_dump_json()
    (folder / "report.json").write_text(text)
    return folder


def only_run(found: Found) -> Run:
    (run,) = found.runs
    assert not found.unread
    return run


def only_unread(found: Found) -> Unread:
    (folder,) = found.unread
    return folder


def test_reads_a_run_from_its_report(runs: Path, small_report: Report) -> None:
    folder = write_run(runs, small_report)
    run = only_run(read_runs([runs]))
    assert (run.folder, run.page) == (folder, None)
    assert (run.scenario, run.subject, run.seed, run.backend) == ("small", "forwarder", 7, "local")
    assert (run.kinds, run.faults) == (("crash",), ("1-kill",))
    assert [(c.verdict, c.refuted_by) for c in run.claims] == [
        (Verdict.VIOLATED, ("duplicate-output",)),
        (Verdict.HOLDS, ()),
    ]
    assert run.verdict is Verdict.VIOLATED
    assert run.state is RunState.EXPECTED
    assert run.code is None
    (folder / "report.html").write_text("")
    assert only_run(read_runs([folder])).page == folder / "report.html"


def test_finds_each_run_once_and_newest_first(runs: Path, small_report: Report) -> None:
    folders = [write_run(runs, small_report, place) for place in (1, 3, 2)]
    (runs / "matrix-logs").mkdir()
    (runs / "matrix.html").write_text("")
    wanted = [folders[1], folders[2], folders[0]]
    for given in ([runs], folders, [*runs.iterdir()], [runs, *folders]):
        assert [run.folder for run in read_runs(given).runs] == wanted


def test_accepts_any_folder_name_with_a_report(runs: Path, small_report: Report) -> None:
    write_run(runs, small_report).rename(runs / "my baseline")
    assert only_run(read_runs([runs])).folder.name == "my baseline"


@pytest.mark.parametrize("name", ["nowhere", "", "runs"])
def test_error_without_runs_suggests_what_to_pass(runs: Path, name: str) -> None:
    with pytest.raises(NoRuns, match="such as runs"):
        read_runs([runs.parent / name] if name else [runs, runs])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "report.json: the whole file"),
        ("{", "report.json: the whole file"),
        ('{"format": "onceproof-report/9"}', "Expected onceproof-report/5"),
        ("\x00\xff", "report.json: the whole file"),
        ("[" * 100_000, "report.json: the whole file"),
    ],
)
def test_broken_report_leaves_other_runs_readable(
    runs: Path, small_report: Report, text: str, why: str
) -> None:
    write_run(runs, small_report, 1)
    (write_run(runs, small_report, 2) / "report.json").write_bytes(text.encode("latin-1"))
    found = read_runs([runs])
    assert len(found.runs) == 1
    assert only_unread(found).folder.name == NAME.format(2)
    assert why in only_unread(found).reason


def test_explains_folders_without_a_report(
    runs: Path, small_report: Report, small: SimpleNamespace
) -> None:
    (folder := runs / NAME.format(1)).mkdir()
    small.record().save(folder)
    found = only_unread(read_runs([runs]))
    assert found.scenario == "small"
    assert "It has no report.json: it is in progress, or was interrupted" in found.reason
    (folder / "run.json").write_text("{")
    assert "run.json is not JSON" in only_unread(read_runs([runs])).reason
    (folder / "run.json").unlink()
    assert "is not a run folder: it has no run.json" in only_unread(read_runs([runs])).reason


def test_scenario_of_a_broken_report_is_known(
    runs: Path, small_report: Report, small: SimpleNamespace
) -> None:
    folder = write_run(runs, small_report)
    small.record().save(folder)
    (folder / "report.json").write_text("{")
    assert only_unread(read_runs([runs])).scenario == "small"


def test_does_not_read_special_or_oversized_reports(runs: Path, small_report: Report) -> None:
    os.mkfifo(write_run(runs, small_report, 1) / "pipe")
    large, odd = write_run(runs, small_report, 2), write_run(runs, small_report, 3)
    with (large / "report.json").open("r+b") as file:
        file.truncate(300_000_000)
    (odd / "report.json").unlink()
    os.mkfifo(odd / "report.json")
    found = read_runs([runs])
    assert len(found.runs) == 1
    reasons = sorted(folder.reason for folder in found.unread)
    assert reasons[0] == "report.json is not a file."
    assert reasons[1] == "report.json is too large for a report; `onceproof check` rewrites it."


@pytest.mark.parametrize(
    ("phases", "finished"),
    [
        ((("collect", "ok"),), True),
        ((("settle", "failed"),), True),
        ((("settle", "stalled"), ("collect", "ok")), True),
        ((("settle", "interrupted"),), False),
        ((("arrange", "ok"), ("settle", None)), False),
        ((), False),
    ],
)
def test_interrupted_run_is_not_finished(
    runs: Path, small: SimpleNamespace, phases: tuple[tuple[str, str | None], ...], finished: bool
) -> None:
    history = small.history()
    rows = [{"phase": name, "outcome": outcome} for name, outcome in phases]
    history["phases"] = small.arrow("phases", rows)
    write_run(runs, build(small.record(), history, small.judgement(history)))
    assert only_run(read_runs([runs])).finished is finished


def test_setup_depends_on_everything_but_seed_and_host(runs: Path, small_report: Report) -> None:
    configuration = {"backend": "docker"}
    versions = {"onceproof": "0", "code": "abc"}
    for place, facts in enumerate(
        [
            {},
            {"seed": 8, "repeat": "other", "host": {"cores": "8"}},
            {"versions": versions},
            {"configuration": configuration},
            {"workload": {"records": 4}},
            {"subject": "other"},
            {"scenario": "other"},
        ],
        1,
    ):
        write_run(runs, small_report, place, **facts)
    setups = [run.setup for run in reversed(read_runs([runs]).runs)]
    assert setups[0] == setups[1]
    assert len(set(setups)) == 6
    runs_read = {run.folder.name: run for run in read_runs([runs]).runs}
    assert runs_read[NAME.format(3)].code == "abc"
    assert runs_read[NAME.format(4)].backend == "docker"


def test_user_pipeline_has_its_command(runs: Path, small_report: Report) -> None:
    write_run(runs, small_report, configuration={"pipeline": {"command": "python job.py"}})
    assert only_run(read_runs([runs])).own == "python job.py"
