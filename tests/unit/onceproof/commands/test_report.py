"""`onceproof report`: rewrites the reports of one run, or prints an index of several."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onceproof.cli import app
from onceproof.commands import check
from onceproof.reports.write import write
from tests.end_to_end.command import onceproof
from tests.unit.reports.conftest import run_record, small_history, small_judgement


def run(*arguments: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["report", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with two run folders; the second has not been judged."""
    from onceproof.reports.build import build

    history = small_history()
    for place in (1, 2):
        folder = tmp_path / "runs" / f"2025010{place}T000000Z-small-7"
        folder.mkdir(parents=True)
        run_record().save(folder)
        if place == 1:
            write(folder, build(run_record(), history, small_judgement(history)))
    return tmp_path / "runs"


def test_index_page_is_written_by_the_real_command(runs: Path, tmp_path: Path) -> None:
    done = onceproof("report", runs, "--html", "index.html", folder=tmp_path)
    assert (done.code, done.out, done.err) == (0, "index.html\n", "")
    page = (tmp_path / "index.html").read_text()
    assert 'href="./runs/20250101T000000Z-small-7/report.html"' in page
    assert "It has no report.json" in page


def test_index_of_runs_is_printed(runs: Path) -> None:
    code, out, _ = run(runs)
    assert code == 0
    assert out.startswith("1 run of 1 scenario: 1 as expected, 1 folder without a readable report.")
    assert run(*runs.iterdir())[1] == out


def test_reports_of_a_single_run_are_rewritten(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests check the written reports on a real run."""
    calls: list[Path] = []
    monkeypatch.setattr(check, "report", lambda folder: calls.append(folder) or 0)
    (folder,) = runs.glob("20250101*")
    assert run(folder)[0] == 0
    assert run(runs / "nowhere")[0] == 0
    assert calls == [folder, runs / "nowhere"]


def test_html_option_writes_an_index_of_one_run(runs: Path, tmp_path: Path) -> None:
    (folder,) = runs.glob("20250101*")
    assert run(folder, "--html", tmp_path / "one.html")[0] == 0
    assert "1 run of 1 scenario" in (tmp_path / "one.html").read_text()


def test_report_without_run_record_is_listed(runs: Path) -> None:
    (folder,) = runs.glob("20250101*")
    (folder / "run.json").unlink()
    assert run(folder)[1].startswith("1 run of 1 scenario")


def test_unreadable_and_unwritable_paths_are_reported(runs: Path, tmp_path: Path) -> None:
    for paths in ((tmp_path / "nowhere",), (runs, tmp_path / "nowhere")):
        code, _, err = run(*paths)
        assert code == 2
        assert "does not exist" in err
    (empty := tmp_path / "empty").mkdir()
    code, _, err = run(empty)
    assert code == 2
    assert "no run folder found. Give a run folder that `onceproof run` printed" in err
    code, _, err = run(runs, "--html", tmp_path / "no/such/index.html")
    assert code == 3
    assert "No such file or directory" in err
    shutil.rmtree(runs)
