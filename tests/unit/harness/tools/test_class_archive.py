"""Archives of loaded classes: what they are kept for, and when one is of no use any more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onceproof.harness.tools import cache, class_archive
from onceproof.harness.tools.class_archive import NotKept


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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


def test_the_same_java_with_the_same_jars_has_the_same(java: Path, jars: Path) -> None:
    first = installed(java, jars, "-Xmx1g")
    written = (first / "classes.jsa").stat().st_ino
    assert installed(java, jars, "-Xmx1g") == first
    assert (first / "classes.jsa").stat().st_ino == written


def test_a_link_to_java_is_that_java(java: Path, jars: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(java)
    assert installed(link, jars) == installed(java, jars)


def test_whatever_a_jvm_would_compare_is_compared(java: Path, jars: Path) -> None:
    seen = [installed(java, jars)]
    seen.append(installed(java, jars, "-XX:+UseSerialGC"))
    (jars / "two.jar").write_text("two")
    seen.append(installed(java, jars))
    # A zip and a layer of an image keep whole seconds, and so does an archive.
    written = (jars / "two.jar").stat().st_mtime_ns // 1_000_000_000 * 1_000_000_000
    os.utime(jars / "two.jar", ns=(written, written))
    assert installed(java, jars) == seen[-1]
    os.utime(jars / "two.jar", ns=(0, 0))
    seen.append(installed(java, jars))
    java.write_text("a newer JVM")
    seen.append(installed(java, jars))
    seen.append(installed(java, jars, kind="others"))
    assert len(set(seen)) == len(seen)


def test_one_with_jars_that_have_changed_is_removed(java: Path, jars: Path) -> None:
    old, other = installed(java, jars), installed(java, jars, kind="others")
    (jars / "two.jar").write_text("two")
    new = installed(java, jars)
    assert not old.exists()
    assert new.exists()
    assert other.exists()  # of another kind: its own next one removes it


def test_other_options_have_one_of_their_own(java: Path, jars: Path) -> None:
    old, other = installed(java, jars, "-a"), installed(java, jars, "-b")
    assert old.exists()
    assert installed(java, jars, "-a") == old
    assert other.exists()


def test_what_another_run_is_about_is_not_waited_for(java: Path, jars: Path, kept: Path) -> None:
    target = installed(java, jars)
    cache.remove(target)
    with (
        cache.locked(target.with_name(f".{target.name}.lock")),
        pytest.raises(NotKept, match="another run"),
    ):
        installed(java, jars)
    assert installed(java, jars) == target


def test_a_cache_that_cannot_be_written_is_gone_without(java: Path, jars: Path, kept: Path) -> None:
    kept.write_text("in the way")
    with pytest.raises(NotKept, match="Not a directory"):
        installed(java, jars)


def test_what_could_not_be_made_is_tried_again(java: Path, jars: Path, kept: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "classes.jsa").write_text("half of")
        raise NotKept("too busy")

    for _ in range(2):
        with pytest.raises(NotKept, match="too busy"):
            class_archive.installed("brokers", fail, java=java, jars=jars, options=())
    assert [f for f in (kept / "brokers").iterdir() if f.suffix != ".lock"] == []


def test_whose_an_archive_is_may_be_unreadable(java: Path, jars: Path) -> None:
    old = installed(java, jars)
    (old / "of.json").write_text("not JSON")
    (jars / "two.jar").write_text("two")
    assert installed(java, jars).exists()


def test_one_of_another_java_or_other_jars_stays_until_they_are_gone(
    java: Path, jars: Path, tmp_path: Path
) -> None:
    newer, elsewhere, third = tmp_path / "java25", tmp_path / "elsewhere", tmp_path / "third"
    newer.write_text("another JVM")
    for folder in (elsewhere, third):
        folder.mkdir()
    mine, its, there = installed(java, jars), installed(newer, jars), installed(java, elsewhere)
    assert mine.exists()
    assert its.exists()
    newer.unlink()
    elsewhere.rmdir()
    installed(java, third)
    assert mine.exists()
    assert not its.exists()
    assert not there.exists()


def test_a_jvm_is_told_of_an_archive_that_there_is(tmp_path: Path) -> None:
    archive = tmp_path / "classes.jsa"
    assert class_archive.using(tmp_path) == ()
    archive.touch()
    assert class_archive.using(tmp_path)[0] == f"-XX:SharedArchiveFile={archive}"
    assert class_archive.recording(tmp_path)[0] == f"-XX:ArchiveClassesAtExit={archive}"
