"""The cache: where it is, and that what appears in it is whole."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import pytest

from onceproof.harness.tools import cache
from onceproof.harness.tools.error import SetupError
from onceproof.harness.wait import wait_until


def test_the_variable_of_our_own_wins(tmp_path: Path) -> None:
    environ = {"ONCEPROOF_CACHE": str(tmp_path), "XDG_CACHE_HOME": "/xdg", "HOME": "/home/me"}
    assert cache.location(environ) == tmp_path


def test_then_the_folder_that_the_desktop_standard_names() -> None:
    environ = {"XDG_CACHE_HOME": "/xdg", "HOME": "/home/me"}
    assert cache.location(environ) == Path("/xdg/onceproof")


@pytest.mark.parametrize("xdg", ["", "relative/path"])
def test_an_empty_or_relative_standard_folder_is_ignored(xdg: str) -> None:
    environ = {"XDG_CACHE_HOME": xdg, "HOME": "/home/me"}
    assert cache.location(environ) == Path("/home/me/.cache/onceproof")


def test_a_relative_choice_becomes_absolute() -> None:
    assert cache.location({"ONCEPROOF_CACHE": "here"}) == Path.cwd() / "here"


def test_what_is_there_is_not_built_again(tmp_path: Path) -> None:
    target = tmp_path / "sets" / "one"
    cache.install(target, lambda folder: (folder / "file").touch())

    def never(folder: Path) -> None:
        raise AssertionError(folder)

    assert cache.install(target, never) == target
    assert (target / "file").exists()


def test_a_build_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise SetupError("no")

    with pytest.raises(SetupError, match="no"):
        cache.install(tmp_path / "thing", fail)
    assert [f.name for f in tmp_path.iterdir()] == [".thing.lock"]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    leftover = tmp_path / ".thing.12345.tmp"
    leftover.mkdir()
    cache.install(tmp_path / "thing", lambda folder: None)
    assert not leftover.exists()


def test_what_is_unusable_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "thing"
    target.mkdir()
    (target / "broken").touch()

    def usable(folder: Path) -> bool:
        return (folder / "good").exists()

    cache.install(target, lambda folder: (folder / "good").touch(), usable=usable)
    assert [f.name for f in target.iterdir()] == ["good"]


def test_two_at_once_build_once(tmp_path: Path) -> None:
    built: list[Path] = []
    waited: list[bool] = []

    def build(folder: Path) -> None:
        built.append(folder)
        wait_until(lambda: len(waited) == 3, what="the others to wait", seconds=30)

    def go() -> None:
        cache.install(tmp_path / "thing", build, waiting=lambda: waited.append(True))

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert len(waited) == 3


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.ENOSPC, "disk is full"), (errno.EROFS, "ONCEPROOF_CACHE"), (errno.EIO, "failed")],
)
def test_errors_of_the_system_become_sentences(tmp_path: Path, number: int, says: str) -> None:
    def fail(folder: Path) -> None:
        raise OSError(number, "whatever")

    with pytest.raises(SetupError, match=says):
        cache.install(tmp_path / "thing", fail)
