"""The cache of downloads, with atomic installation.

A folder is built and checked, then renamed into place, so that an existing folder is complete. A
second process waits for a lock file. The kernel holds the lock, so it ends with its process.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from onceproof.harness.tools.error import SetupError, from_os

VARIABLE = "ONCEPROOF_CACHE"


def location(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the cache folder: `$ONCEPROOF_CACHE`, else in the user's cache folder."""
    if chosen := environ.get(VARIABLE):
        return Path(chosen).expanduser().absolute()
    if (base := environ.get("XDG_CACHE_HOME")) and Path(base).is_absolute():
        return Path(base) / "onceproof"
    home = environ.get("HOME")
    return (Path(home) if home else Path.home()) / ".cache" / "onceproof"


@contextmanager
def locked(file: Path, *, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock of a file; `waiting` is called if another process holds it."""
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


def state_of(files: Iterable[Path], root: Path) -> str:
    """Return a name for the content of files in a folder, which changes whenever that does."""
    state = hashlib.sha256()
    for file in sorted(files):
        content = file.read_bytes()
        state.update(f"{file.relative_to(root)}\n{len(content)}\n".encode() + content)
    return state.hexdigest()[:16]


def install(
    target: Path,
    build: Callable[[Path], None],
    *,
    usable: Callable[[Path], bool] = Path.is_dir,
    waiting: Callable[[], None] | None = None,
) -> Path:
    """Make `build` create `target`, unless that exists and is usable.

    `build` fills a temporary folder beside the target, which is removed if it raises.
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
        raise SetupError(f"{target} is not a folder: remove it, then try again.") from error
    finally:
        _sweep(target)


def _sweep(target: Path) -> None:
    """Remove incomplete folders of earlier processes. The caller holds the lock."""
    for leftover in target.parent.glob(f".{target.name}.*.tmp"):
        remove(leftover)


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
