"""A temporary folder for an engine, which is removed even after a crash.

Its owner holds a lock on it, which the kernel releases when the owner dies. Creating a folder
removes those that are not locked.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = "onceproof-engine-"
_LOCK: Final = "held"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a folder and remove it when the context ends."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    with (folder / "free").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        # The lock is held before it gets its name, so no one sees it free.
        (folder / "free").rename(folder / _LOCK)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(where: Path) -> None:
    for folder in where.glob(f"{_PREFIX}*"):
        # Removed meanwhile, or just created and not yet locked: leave it.
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid() and _abandoned(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)


def _abandoned(lock: Path) -> bool:
    with lock.open() as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
