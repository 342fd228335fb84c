"""A folder for what an engine keeps aside; gone afterwards, whatever becomes of us.

Who has such a folder holds a lock on it, and the kernel lets go of the lock
when its holder dies. Whoever makes the next one removes those that nobody holds.
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
    """A folder of our own until the context ends."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    with (folder / "free").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        # Nobody finds the lock under its name before it is held.
        (folder / "free").rename(folder / _LOCK)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(where: Path) -> None:
    for folder in where.glob(f"{_PREFIX}*"):
        # Gone meanwhile, or made this very moment and not yet held: let it be.
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
