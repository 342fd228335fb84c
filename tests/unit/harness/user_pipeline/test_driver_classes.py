"""Classes of somebody's Spark driver: where they are kept, and what its JVM is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onceproof.harness.tools import cache
from onceproof.harness.user_pipeline import driver_classes
from onceproof.harness.user_pipeline.driver_classes import VARIABLE, DriverClasses

COMMAND = ("python", "job.py", "{checkpoint}")


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path / "drivers"


def record(command: tuple[str, ...] = COMMAND) -> Path:
    """What a JVM does that records; returns the archive."""
    (option,) = [
        word.strip('"')
        for word in DriverClasses(command, "/job").recording()[VARIABLE].split()
        if "ArchiveClassesAtExit" in word
    ]
    archive = Path(option.split("=")[1])
    archive.write_bytes(b"classes")
    return archive


def test_what_was_recorded_is_used_by_the_same_command() -> None:
    archive = record()
    assert f'"-XX:SharedArchiveFile={archive}"' in DriverClasses(COMMAND, "/job").using()[VARIABLE]
    for command, folder in ((("python", "other.py"), "/job"), (COMMAND, "/elsewhere")):
        assert "SharedArchiveFile" not in DriverClasses(command, folder).using()[VARIABLE]


def test_a_jvm_that_knows_no_archives_starts_all_the_same() -> None:
    for said in (
        DriverClasses(COMMAND, "/job").recording(),
        DriverClasses(COMMAND, "/job").using(),
    ):
        assert said[VARIABLE].split()[0] == '"-XX:+IgnoreUnrecognizedVMOptions"'


def test_what_the_user_says_to_the_launcher_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "-Dtheirs=1")
    assert DriverClasses(COMMAND, "/job").using()[VARIABLE].startswith("-Dtheirs=1 ")


def test_a_new_recording_forgets_the_old_one() -> None:
    archive = record()
    DriverClasses(COMMAND, "/job").recording()
    assert not archive.exists()


def test_only_the_newest_are_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_classes, "_MAX_ARCHIVES", 2)
    folders = []
    for n in range(4):
        folder = record((f"job-{n}",)).parent
        os.utime(folder, (n, n))
        folders.append(folder)
    assert sorted(kept.iterdir()) == sorted(folders[2:])


def test_a_cache_that_cannot_be_written_to_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file"))
    assert "ArchiveClassesAtExit" not in DriverClasses(COMMAND, "/job").recording()[VARIABLE]
