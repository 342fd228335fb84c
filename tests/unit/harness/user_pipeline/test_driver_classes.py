"""Class archives of a Spark driver: their cache and the JVM options that use them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onceproof.harness.tools import cache
from onceproof.harness.user_pipeline import driver_classes
from onceproof.harness.user_pipeline.driver_classes import VARIABLE, DriverClasses

COMMAND = ("python", "job.py", "{checkpoint}")


@pytest.fixture(autouse=True)
def archive_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path / "drivers"


def record(command: tuple[str, ...] = COMMAND) -> Path:
    """Writes the archive that a recording JVM would write, and returns its path."""
    (option,) = [
        word.strip('"')
        for word in DriverClasses(command, "/job").recording()[VARIABLE].split()
        if "ArchiveClassesAtExit" in word
    ]
    archive = Path(option.split("=")[1])
    archive.write_bytes(b"classes")
    return archive


def test_archive_is_used_by_the_same_command_and_folder_only() -> None:
    archive = record()
    assert f'"-XX:SharedArchiveFile={archive}"' in DriverClasses(COMMAND, "/job").using()[VARIABLE]
    for command, folder in ((("python", "other.py"), "/job"), (COMMAND, "/elsewhere")):
        assert "SharedArchiveFile" not in DriverClasses(command, folder).using()[VARIABLE]


def test_jvm_ignores_options_it_does_not_know() -> None:
    for options in (
        DriverClasses(COMMAND, "/job").recording(),
        DriverClasses(COMMAND, "/job").using(),
    ):
        assert options[VARIABLE].split()[0] == '"-XX:+IgnoreUnrecognizedVMOptions"'


def test_keeps_the_users_launcher_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "-Dtheirs=1")
    assert DriverClasses(COMMAND, "/job").using()[VARIABLE].startswith("-Dtheirs=1 ")


def test_recording_deletes_the_previous_archive() -> None:
    archive = record()
    DriverClasses(COMMAND, "/job").recording()
    assert not archive.exists()


def test_cache_keeps_the_newest_archives(
    archive_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_classes, "_MAX_ARCHIVES", 2)
    folders = []
    for n in range(4):
        folder = record((f"job-{n}",)).parent
        os.utime(folder, (n, n))
        folders.append(folder)
    assert sorted(archive_cache.iterdir()) == sorted(folders[2:])


def test_records_nothing_if_the_cache_is_not_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file"))
    assert "ArchiveClassesAtExit" not in DriverClasses(COMMAND, "/job").recording()[VARIABLE]
