"""`onceproof clean`: what it removes, what it keeps, and the required `--yes`."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onceproof.cleaning import leftovers
from onceproof.cleaning.downloads import find_downloads
from onceproof.cleaning.leftovers import find_scratch
from onceproof.cli import app
from onceproof.harness.history.folder import seal_folder
from onceproof.harness.processes import sweep
from onceproof.harness.processes.processes import MARKER
from onceproof.harness.processes.sweep import find_leftovers, new_marker
from onceproof.harness.wait import wait_until
from onceproof.outcome import check_run
from tests.unit.onceproof.run_folders import finished, interrupted

DAY = 86_400
DEAD = "999999999-1-ff"


@pytest.fixture(autouse=True)
def only_dead_leftovers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide what other runs left on this machine, so that no test removes it."""
    monkeypatch.setattr(
        sweep, "find_leftovers", lambda: [x for x in find_leftovers() if x.marker == DEAD]
    )
    monkeypatch.setattr("onceproof.commands.clean.find_containers", list)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run is in progress on this machine."""
    monkeypatch.setattr("onceproof.cleaning.downloads.living", lambda: False)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Four runs, named by the days since their start."""
    folder = tmp_path / "runs"
    for days in (1, 3, 8, 30):
        at = int((time.time() - days * DAY) * 1e9)
        finished(folder, f"run-{days}", wall_ns=at)
    return folder


def clean(runs: Path, *arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["--config", "none", "clean", "--out", str(runs), *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def entries(runs: Path) -> set[str]:
    return {path.name for path in runs.iterdir()}


def test_nothing_is_removed_without_yes(runs: Path) -> None:
    code, out, _ = clean(runs, "--keep", "1")
    assert code == 0
    assert "remove" in out
    assert "would remove 3 items" in out
    assert "--yes" in out
    assert len(entries(runs)) == 4


def test_no_run_is_removed_without_criteria(runs: Path) -> None:
    code, out, _ = clean(runs, "--yes")
    assert (code, len(entries(runs))) == (0, 4)
    assert "use --older-than 7d, --keep 5 or --expected-only" in out


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["--older-than", "7d"], {"run-1", "run-3"}),
        (["--older-than", "2w"], {"run-1", "run-3", "run-8"}),
        (["--keep", "2"], {"run-1", "run-3"}),
        (["--keep", "0"], set()),
        (["--keep", "3", "--older-than", "2d"], {"run-1", "run-3", "run-8"}),
        (["--older-than", "2d", "--expected-only"], {"run-1", "run-3", "run-8", "run-30"}),
    ],
)
def test_runs_matching_all_criteria_are_removed(
    runs: Path, arguments: list[str], kept: set[str]
) -> None:
    code, out, _ = clean(runs, *arguments, "--yes")
    assert (code, entries(runs)) == (0, kept)
    assert ("nothing to remove" if len(kept) == 4 else "removed ") in out


def test_expected_only_keeps_other_runs(runs: Path) -> None:
    expected = {"verdict": "violated", "anomalies": ["duplicate-output"]}
    for name, wanted in (("as-expected", expected), ("unexpected", {**expected, "anomalies": []})):
        folder = finished(runs, name)
        record = (folder / "run.json").read_text()
        assert '"expect": null' in record
        (folder / "run.json").write_text(
            record.replace('"expect": null', f'"expect": {str(wanted).replace(chr(39), chr(34))}')
        )
        seal_folder(folder)
        check_run(folder)
    clean(runs, "--expected-only", "--yes")
    assert entries(runs) == {"run-1", "run-3", "run-8", "run-30", "unexpected"}


def test_partial_files_of_killed_run_do_not_prevent_removal(runs: Path) -> None:
    for name in (".report.json.123.part", ".report.html.123.part", "run.part"):
        (runs / "run-8" / name).touch()
    clean(runs, "--keep", "0", "--yes")
    assert "run-8" not in entries(runs)


def test_foreign_and_changed_folders_are_kept(runs: Path, tmp_path: Path) -> None:
    (runs / "photos").mkdir()
    (runs / "photos" / "run.json").write_text("{}")
    (runs / "run.json").write_text("{}")
    (runs / "run-8" / "notes.txt").write_text("mine")
    (runs / "run-30").rename(runs / "to-keep")
    elsewhere = finished(tmp_path / "elsewhere", "linked")
    (runs / "linked").symlink_to(elsewhere)
    code, out, _ = clean(runs, "--keep", "0", "--yes")
    assert code == 0
    assert entries(runs) == {"photos", "run.json", "run-8", "to-keep", "linked"}
    assert (elsewhere / "run.json").exists()
    assert "run-8 " in out
    assert "contains notes.txt, which no run creates" in out
    assert "was named run-30 when it was created" in out


def test_run_in_use_is_kept(runs: Path) -> None:
    folder = interrupted(runs, "under-way")
    interrupted(runs, "under-way-too")  # not in use, despite its similar name
    with (folder / "history" / "producer-0.jsonl").open():
        _, out, _ = clean(runs, "--keep", "0", "--yes")
    assert entries(runs) == {"under-way"}
    assert "is in use" in out


def test_processes_and_folders_of_dead_runs_are_removed(runs: Path, tmp_path: Path) -> None:
    orphan = subprocess.Popen(
        ["sleep", "300"], env={**os.environ, MARKER: DEAD}, start_new_session=True
    )
    active = subprocess.Popen(
        ["sleep", "300"], env={**os.environ, MARKER: new_marker()}, start_new_session=True
    )
    dead = tmp_path / "tmp" / f"onceproof-{DEAD}-postgres"
    alive = tmp_path / "tmp" / f"onceproof-{new_marker()}-postgres"
    other = tmp_path / "tmp" / "onceproof-photos"
    for folder in (dead, alive, other):
        folder.mkdir()
    try:
        wait_until(sweep.find_leftovers, what="its environment to be there", seconds=60)
        _, out, _ = clean(runs)
        assert f"remove run {DEAD}: 1 process" in out
        assert orphan.poll() is None
        assert clean(runs, "--yes")[0] == 0
        assert orphan.wait(60) == -9
        assert active.poll() is None
        assert entries(tmp_path / "tmp") == {alive.name, other.name}
    finally:
        for each in (orphan, active):
            each.kill()
            each.wait(60)
    assert find_scratch() == []


@pytest.mark.usefixtures("idle")
def test_downloads_are_removed_only_on_request(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    for name in ("jars/kafka-1", "java", "toxiproxy-1.0", "photos", "spark/bin"):
        (cache / name).mkdir(parents=True)
    for lock in ("jars/.kafka-1.lock", ".toxiproxy-1.0.lock"):
        (cache / lock).touch()
    monkeypatch.setenv("ONCEPROOF_CACHE", str(cache))
    clean(runs, "--yes")
    assert len(entries(cache)) == 6
    clean(runs, "--downloads", "--yes")
    assert entries(cache) == {"photos", "spark", ".toxiproxy-1.0.lock"}, "of Spark it is not ours"


@pytest.mark.usefixtures("idle")
def test_dry_run_profiles_are_removed_with_downloads(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    (cache / "drivers" / "0123456789abcdef").mkdir(parents=True)
    (cache / "dry-runs").mkdir()
    (cache / "dry-runs" / f"{'a1' * 16}.json").touch()
    monkeypatch.setenv("ONCEPROOF_CACHE", str(cache))
    (foreign := cache / "dry-runs" / "song.mp3").touch()
    clean(runs, "--downloads", "--yes")
    assert entries(cache) == {"dry-runs"}, "one that holds something else is somebody's own"
    foreign.unlink()
    clean(runs, "--downloads", "--yes")
    assert entries(cache) == set()


def test_downloads_are_kept_while_a_run_is_in_progress(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    environ = {"ONCEPROOF_CACHE": str(tmp_path)}
    run = subprocess.Popen(["sleep", "300"], env={**os.environ, MARKER: new_marker()})
    try:
        deadline = time.monotonic() + 60
        while not sweep.living() and time.monotonic() < deadline:
            pass
        (found,) = find_downloads(environ)
        assert found.stays == "may be in use by a running onceproof"
    finally:
        run.kill()
        run.wait(60)


def test_failed_removal_is_reported(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("onceproof.cleaning.runs.shutil.rmtree", refuse)
    code, out, err = clean(runs, "--keep", "3", "--yes")
    assert code == 3
    assert "could not be removed: Permission denied" in err
    assert "try again" in err
    assert "0 of 1 removed" in out


def test_missing_docker_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setenv("PATH", "/nowhere")
    assert leftovers.find_containers() == []
