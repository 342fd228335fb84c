"""`onceproof clean`: what goes, what stays, and that nothing goes unless somebody says yes."""

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
from tests.unit.onceproof.run_folders import broken_off, finished

DAY = 86_400
DEAD = "999999999-1-ff"


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What others left on this machine is not for a test to end."""
    monkeypatch.setattr(
        sweep, "find_leftovers", lambda: [x for x in find_leftovers() if x.marker == DEAD]
    )
    monkeypatch.setattr("onceproof.commands.clean.find_containers", list)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run of this machine is under way."""
    monkeypatch.setattr("onceproof.cleaning.downloads.living", lambda: False)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Four runs that began so many days ago."""
    folder = tmp_path / "runs"
    for days in (1, 3, 8, 30):
        at = int((time.time() - days * DAY) * 1e9)
        finished(folder, f"run-{days}", wall_ns=at)
    return folder


def clean(runs: Path, *words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["--config", "none", "clean", "--out", str(runs), *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def left(runs: Path) -> set[str]:
    return {path.name for path in runs.iterdir()}


def test_nothing_goes_unless_somebody_says_yes(runs: Path) -> None:
    code, out, _ = clean(runs, "--keep", "1")
    assert code == 0
    assert "remove" in out
    assert "would remove 3 items" in out
    assert "--yes" in out
    assert len(left(runs)) == 4


def test_without_a_wish_no_run_goes(runs: Path) -> None:
    code, out, _ = clean(runs, "--yes")
    assert (code, len(left(runs))) == (0, 4)
    assert "use --older-than 7d, --keep 5 or --expected-only" in out


@pytest.mark.parametrize(
    ("words", "stay"),
    [
        (["--older-than", "7d"], {"run-1", "run-3"}),
        (["--older-than", "2w"], {"run-1", "run-3", "run-8"}),
        (["--keep", "2"], {"run-1", "run-3"}),
        (["--keep", "0"], set()),
        (["--keep", "3", "--older-than", "2d"], {"run-1", "run-3", "run-8"}),
        (["--older-than", "2d", "--expected-only"], {"run-1", "run-3", "run-8", "run-30"}),
    ],
)
def test_those_go_that_fit_everything(runs: Path, words: list[str], stay: set[str]) -> None:
    code, out, _ = clean(runs, *words, "--yes")
    assert (code, left(runs)) == (0, stay)
    assert ("nothing to remove" if len(stay) == 4 else "removed ") in out


def test_only_what_came_out_as_expected(runs: Path) -> None:
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
    assert left(runs) == {"run-1", "run-3", "run-8", "run-30", "unexpected"}


def test_what_a_run_wrote_when_it_was_killed_is_ours(runs: Path) -> None:
    for name in (".report.json.123.part", ".report.html.123.part", "run.part"):
        (runs / "run-8" / name).touch()
    clean(runs, "--keep", "0", "--yes")
    assert "run-8" not in left(runs)


def test_what_is_not_provably_ours_stays(runs: Path, tmp_path: Path) -> None:
    (runs / "photos").mkdir()
    (runs / "photos" / "run.json").write_text("{}")
    (runs / "run.json").write_text("{}")
    (runs / "run-8" / "notes.txt").write_text("mine")
    (runs / "run-30").rename(runs / "to-keep")
    elsewhere = finished(tmp_path / "elsewhere", "linked")
    (runs / "linked").symlink_to(elsewhere)
    code, out, _ = clean(runs, "--keep", "0", "--yes")
    assert code == 0
    assert left(runs) == {"photos", "run.json", "run-8", "to-keep", "linked"}
    assert (elsewhere / "run.json").exists()
    assert "run-8 " in out
    assert "contains notes.txt, which no run creates" in out
    assert "was named run-30 when it was created" in out


def test_what_is_in_use_stays(runs: Path) -> None:
    folder = broken_off(runs, "under-way")
    broken_off(runs, "under-way-too")  # whose name only begins alike
    with (folder / "history" / "producer-0.jsonl").open():
        _, out, _ = clean(runs, "--keep", "0", "--yes")
    assert left(runs) == {"under-way"}
    assert "is in use" in out


def test_processes_and_folders_of_dead_runs_go(runs: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        ["sleep", "300"], env={**os.environ, MARKER: DEAD}, start_new_session=True
    )
    mine = subprocess.Popen(
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
        assert process.poll() is None
        assert clean(runs, "--yes")[0] == 0
        assert process.wait(60) == -9
        assert mine.poll() is None
        assert left(tmp_path / "tmp") == {alive.name, other.name}
    finally:
        for each in (process, mine):
            each.kill()
            each.wait(60)
    assert find_scratch() == []


@pytest.mark.usefixtures("idle")
def test_downloads_go_only_if_they_are_named(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    for name in ("jars/kafka-1", "java", "toxiproxy-1.0", "photos", "spark/bin"):
        (cache / name).mkdir(parents=True)
    for lock in ("jars/.kafka-1.lock", ".toxiproxy-1.0.lock"):
        (cache / lock).touch()
    monkeypatch.setenv("ONCEPROOF_CACHE", str(cache))
    clean(runs, "--yes")
    assert len(left(cache)) == 6
    clean(runs, "--downloads", "--yes")
    assert left(cache) == {"photos", "spark", ".toxiproxy-1.0.lock"}, "of Spark it is not ours"


@pytest.mark.usefixtures("idle")
def test_what_dry_runs_learned_goes_with_downloads(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    (cache / "drivers" / "0123456789abcdef").mkdir(parents=True)
    (cache / "dry-runs").mkdir()
    (cache / "dry-runs" / f"{'a1' * 16}.json").touch()
    monkeypatch.setenv("ONCEPROOF_CACHE", str(cache))
    (theirs := cache / "dry-runs" / "song.mp3").touch()
    clean(runs, "--downloads", "--yes")
    assert left(cache) == {"dry-runs"}, "one that holds something else is somebody's own"
    theirs.unlink()
    clean(runs, "--downloads", "--yes")
    assert left(cache) == set()


def test_downloads_stay_while_a_run_is_under_way(tmp_path: Path) -> None:
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


def test_what_cannot_be_removed_is_told(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("onceproof.cleaning.runs.shutil.rmtree", refuse)
    code, out, err = clean(runs, "--keep", "3", "--yes")
    assert code == 3
    assert "could not be removed: Permission denied" in err
    assert "try again" in err
    assert "0 of 1 removed" in out


def test_no_docker_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setenv("PATH", "/nowhere")
    assert leftovers.find_containers() == []
