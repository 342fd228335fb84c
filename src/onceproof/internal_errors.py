"""Report unexpected exceptions, and store their tracebacks."""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

MISTAKE_FILE: Final = "mistake.txt"
"""The traceback's file in a run folder."""
_PREFIX: Final = "onceproof-mistake-"
_KEPT: Final = 5
_FOLDER: Final = "run_folder"


@contextmanager
def in_run(folder: Path) -> Iterator[None]:
    """Mark exceptions as belonging to a run, so that its folder gets the traceback."""
    try:
        yield
    except Exception as error:
        vars(error)[_FOLDER] = folder
        raise


def report_internal_error(error: Exception) -> str:
    """Store an error's traceback, and return a message with its file or, failing that, its text."""
    text = "".join(traceback.format_exception(error))
    words = " ".join(f"{type(error).__name__}: {error}".split())
    try:
        file = _written(text, vars(error).get(_FOLDER))
    except OSError:
        return f"internal error: {words}. Please report it with this:\n{text}"
    return f"internal error: {words}. Please report it with the contents of {file}"


def _written(text: str, folder: Path | None) -> Path:
    if folder is not None:
        with suppress(OSError):  # it may be deleted, or belong to another user
            file = folder / MISTAKE_FILE
            file.write_text(text, encoding="utf-8")
            return file
    with tempfile.NamedTemporaryFile(
        "w", prefix=_PREFIX, suffix=".txt", delete=False, encoding="utf-8"
    ) as new:
        new.write(text)
    _remove_old(Path(new.name))
    return Path(new.name)


def _remove_old(newest: Path) -> None:
    """Keep only the newest few traceback files."""
    ours: list[tuple[int, Path]] = []
    for file in newest.parent.glob(f"{_PREFIX}*.txt"):
        with suppress(OSError):  # another onceproof process may remove it
            at = file.lstat()
            if at.st_uid == os.geteuid() and file != newest:
                ours.append((at.st_mtime_ns, file))
    for _, file in sorted(ours, reverse=True)[_KEPT - 1 :]:
        file.unlink(missing_ok=True)
