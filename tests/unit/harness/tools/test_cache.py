"""The cache: its location, and installing complete entries only."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import pytest

from onceproof.harness.tools import cache
from onceproof.harness.tools.error import SetupError
from onceproof.harness.wait import wait_until


def test_onceproof_cache_takes_precedence(tmp_path: Path) -> None:
    environ = {"ONCEPROOF_CACHE": str(tmp_path), "XDG_CACHE_HOME": "/xdg", "HOME": "/home/me"}
    assert cache.location(environ) == tmp_path


def test_uses_xdg_cache_home_if_set() -> None:
    environ = {"XDG_CACHE_HOME": "/xdg", "HOME": "/home/me"}
    assert cache.location(environ) == Path("/xdg/onceproof")


@pytest.mark.parametrize("xdg", ["", "relative/path"])
def test_empty_or_relative_xdg_cache_home_is_ignored(xdg: str) -> None:
    environ = {"XDG_CACHE_HOME": xdg, "HOME": "/home/me"}
    assert cache.location(environ) == Path("/home/me/.cache/onceproof")


def test_relative_onceproof_cache_becomes_absolute() -> None:
    assert cache.location({"ONCEPROOF_CACHE": "here"}) == Path.cwd() / "here"


def test_installed_entry_is_not_rebuilt(tmp_path: Path) -> None:
    target = tmp_path / "sets" / "one"
    cache.install(target, lambda folder: (folder / "file").touch())

    def never(folder: Path) -> None:
        raise AssertionError(folder)

    assert cache.install(target, never) == target
    assert (target / "file").exists()


def test_failed_build_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise SetupError("no")

    with pytest.raises(SetupError, match="no"):
        cache.install(tmp_path / "thing", fail)
    assert [f.name for f in tmp_path.iterdir()] == [".thing.lock"]


def test_leftover_of_a_killed_process_is_removed(tmp_path: Path) -> None:
    leftover = tmp_path / ".thing.12345.tmp"
    leftover.mkdir()
    cache.install(tmp_path / "thing", lambda folder: None)
    assert not leftover.exists()


def test_unusable_entry_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "thing"
    target.mkdir()
    (target / "broken").touch()

    def usable(folder: Path) -> bool:
        return (folder / "good").exists()

    cache.install(target, lambda folder: (folder / "good").touch(), usable=usable)
    assert [f.name for f in target.iterdir()] == ["good"]


def test_concurrent_installs_build_once(tmp_path: Path) -> None:
    built: list[Path] = []
    waited: list[bool] = []

    def build(folder: Path) -> None:
        built.append(folder)
        wait_until(lambda: len(waited) == 3, what="the others to wait", seconds=30)

    def install() -> None:
        cache.install(tmp_path / "thing", build, waiting=lambda: waited.append(True))

    threads = [threading.Thread(target=install) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert len(waited) == 3


@pytest.mark.parametrize(
    ("number", "message"),
    [(errno.ENOSPC, "disk is full"), (errno.EROFS, "ONCEPROOF_CACHE"), (errno.EIO, "failed")],
)
def test_os_errors_become_setup_errors(tmp_path: Path, number: int, message: str) -> None:
    def fail(folder: Path) -> None:
        raise OSError(number, "whatever")

    with pytest.raises(SetupError, match=message):
        cache.install(tmp_path / "thing", fail)
