"""Where downloads live, and how something gets there whole or not at all.

A folder in the cache appears by one rename after it was built and checked,
so that its existence means that it is complete. A lock file keeps a second process waiting; it is
the kernel's lock, so that nothing is left locked by a process that died.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from onceproof.harness.tools.error import SetupError, from_os

VARIABLE = "ONCEPROOF_CACHE"


def location(environ: Mapping[str, str] = os.environ) -> Path:
    """The cache folder: `$ONCEPROOF_CACHE`, else below the user's folder for caches."""
    if chosen := environ.get(VARIABLE):
        return Path(chosen).expanduser().absolute()
    if (base := environ.get("XDG_CACHE_HOME")) and Path(base).is_absolute():
        return Path(base) / "onceproof"
    home = environ.get("HOME")
    return (Path(home) if home else Path.home()) / ".cache" / "onceproof"


@contextmanager
def locked(file: Path, *, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock of this file; `waiting` is called if somebody else has it."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting is not None:
                waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def install(
    target: Path,
    build: Callable[[Path], None],
    *,
    usable: Callable[[Path], bool] = Path.is_dir,
    waiting: Callable[[], None] | None = None,
) -> Path:
    """Make sure that `target` is there and usable; else let `build` fill an empty folder for it.

    `build` gets a temporary folder beside the target. If it raises, nothing is left behind.
    """
    if usable(target):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.with_name(f".{target.name}.lock"), waiting=waiting):
            _sweep(target)
            if not usable(target):
                _build(target, build)
    except OSError as error:
        choose = f"Choose another folder for downloads with {VARIABLE}=<folder>, then try again."
        raise from_os(error, doing=f"installing {target.name}", forbidden=choose) from error
    return target


def _build(target: Path, build: Callable[[Path], None]) -> None:
    folder = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    folder.mkdir()
    try:
        build(folder)
        if target.exists():
            target.rename(folder.with_suffix(".old.tmp"))
        folder.rename(target)
    except NotADirectoryError as error:
        raise SetupError(f"{target} is in the way: remove it, then try again.") from error
    finally:
        _sweep(target)


def _sweep(target: Path) -> None:
    """Remove what an earlier process left half-made. The lock is ours, so nobody works on it."""
    for leftover in target.parent.glob(f".{target.name}.*.tmp"):
        remove(leftover)


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
