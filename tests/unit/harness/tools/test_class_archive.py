"""Archives of loaded classes: what identifies one, and when it is removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onceproof.harness.tools import cache, class_archive
from onceproof.harness.tools.class_archive import NoClassArchive


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def java(tmp_path: Path) -> Path:
    program = tmp_path / "java"
    program.write_text("a JVM")
    return program


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    folder = tmp_path / "jars"
    folder.mkdir()
    (folder / "one.jar").write_text("one")
    return folder


def installed(java: Path, jars: Path, *options: str, kind: str = "brokers") -> Path:
    def build(folder: Path) -> None:
        (folder / "classes.jsa").write_text("classes")

    return class_archive.installed(kind, build, java=java, jars=jars, options=options)


def test_archive_is_reused_for_the_same_java_and_jars(java: Path, jars: Path) -> None:
    first = installed(java, jars, "-Xmx1g")
    written = (first / "classes.jsa").stat().st_ino
    assert installed(java, jars, "-Xmx1g") == first
    assert (first / "classes.jsa").stat().st_ino == written


def test_symlink_to_java_shares_its_archive(java: Path, jars: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(java)
    assert installed(link, jars) == installed(java, jars)


def test_archive_is_identified_by_java_jars_options_and_kind(java: Path, jars: Path) -> None:
    archives = [installed(java, jars)]
    archives.append(installed(java, jars, "-XX:+UseSerialGC"))
    (jars / "two.jar").write_text("two")
    archives.append(installed(java, jars))
    # Zips and image layers keep whole seconds, so fractions must not matter.
    written = (jars / "two.jar").stat().st_mtime_ns // 1_000_000_000 * 1_000_000_000
    os.utime(jars / "two.jar", ns=(written, written))
    assert installed(java, jars) == archives[-1]
    os.utime(jars / "two.jar", ns=(0, 0))
    archives.append(installed(java, jars))
    java.write_text("a newer JVM")
    archives.append(installed(java, jars))
    archives.append(installed(java, jars, kind="others"))
    assert len(set(archives)) == len(archives)


def test_archive_of_changed_jars_is_removed(java: Path, jars: Path) -> None:
    old, other = installed(java, jars), installed(java, jars, kind="others")
    (jars / "two.jar").write_text("two")
    new = installed(java, jars)
    assert not old.exists()
    assert new.exists()
    assert other.exists()  # of another kind, whose next install removes it


def test_archives_of_different_options_coexist(java: Path, jars: Path) -> None:
    old, other = installed(java, jars, "-a"), installed(java, jars, "-b")
    assert old.exists()
    assert installed(java, jars, "-a") == old
    assert other.exists()


def test_does_not_wait_for_a_lock_of_another_run(
    java: Path, jars: Path, cache_folder: Path
) -> None:
    target = installed(java, jars)
    cache.remove(target)
    with (
        cache.locked(target.with_name(f".{target.name}.lock")),
        pytest.raises(NoClassArchive, match="another run"),
    ):
        installed(java, jars)
    assert installed(java, jars) == target


def test_unwritable_cache_raises_not_kept(java: Path, jars: Path, cache_folder: Path) -> None:
    cache_folder.write_text("in the way")
    with pytest.raises(NoClassArchive, match="Not a directory"):
        installed(java, jars)


def test_failed_archive_is_tried_again(java: Path, jars: Path, cache_folder: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "classes.jsa").write_text("half of")
        raise NoClassArchive("too busy")

    for _ in range(2):
        with pytest.raises(NoClassArchive, match="too busy"):
            class_archive.installed("brokers", fail, java=java, jars=jars, options=())
    assert [f for f in (cache_folder / "brokers").iterdir() if f.suffix != ".lock"] == []


def test_unreadable_owner_file_is_tolerated(java: Path, jars: Path) -> None:
    old = installed(java, jars)
    (old / "of.json").write_text("not JSON")
    (jars / "two.jar").write_text("two")
    assert installed(java, jars).exists()


def test_archive_stays_while_its_java_and_jars_exist(
    java: Path, jars: Path, tmp_path: Path
) -> None:
    newer, other_jars, third_jars = tmp_path / "java25", tmp_path / "elsewhere", tmp_path / "third"
    newer.write_text("another JVM")
    for folder in (other_jars, third_jars):
        folder.mkdir()
    mine, with_newer, with_other_jars = (
        installed(java, jars),
        installed(newer, jars),
        installed(java, other_jars),
    )
    assert mine.exists()
    assert with_newer.exists()
    newer.unlink()
    other_jars.rmdir()
    installed(java, third_jars)
    assert mine.exists()
    assert not with_newer.exists()
    assert not with_other_jars.exists()


def test_using_passes_only_an_existing_archive(tmp_path: Path) -> None:
    archive = tmp_path / "classes.jsa"
    assert class_archive.using(tmp_path) == ()
    archive.touch()
    assert class_archive.using(tmp_path)[0] == f"-XX:SharedArchiveFile={archive}"
    assert class_archive.recording(tmp_path)[0] == f"-XX:ArchiveClassesAtExit={archive}"
