"""Opening files of a folder that somebody else may have filled.

A pipe or a device in place of a file blocks whoever opens it, and a link can lead anywhere. What is
read here is a regular file that lies in its folder, and no larger than such a file may be.
"""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

from onceproof.checkers.bad_history import BadHistory

_KINDS: Final = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


class NotRegular(BadHistory):
    """What lies there is not a file of its folder; the text says what it is and what to do."""


def check_regular(path: Path, within: Path) -> None:
    """See that a path is a regular file, and that no link leads out of a folder on the way to it.

    Args:
        within: the folder that it must lie in.

    Raises:
        NotRegular: it is something else, or lies elsewhere.
        OSError: it cannot be looked at.
    """
    check_inside(path, within)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    _check_mode(path, mode)


def open_regular(path: Path, within: Path, *, at_most: int | None = None) -> BufferedReader:
    """Open a file of a folder for reading.

    Args:
        within: the folder that it must lie in.
        at_most: how many bytes it may have.

    Raises:
        NotRegular: it is no regular file, lies elsewhere, or is larger.
        OSError: it cannot be opened.
    """
    check_regular(path, within)
    # Should it be another by now: a pipe that nobody writes to would be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        about = os.fstat(descriptor)
        _check_mode(path, about.st_mode)
        if at_most is not None and about.st_size > at_most:
            raise NotRegular(
                f"{path} has {about.st_size} bytes; expected at most {at_most}. "
                "Restore it from a copy."
            )
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, within: Path, *, at_most: int) -> bytes:
    """All bytes of a file of a folder; raises as `open_regular` does."""
    with open_regular(path, within, at_most=at_most) as file:
        return file.read()


def check_inside(path: Path, within: Path) -> None:
    """See that no link leads out of a folder on the way to a path; raises `NotRegular` if so."""
    inside = within.resolve()
    try:
        found = path.resolve()
    except RuntimeError:  # of a loop of links, before Python 3.13
        raise NotRegular(f"{path} is a link that leads in a circle. {_ADVICE}") from None
    if not found.is_relative_to(inside):
        raise NotRegular(
            f"{path} is a link that leads out of its folder, to {found}; expected a regular file "
            f"in {within}. {_ADVICE}"
        )


def _check_mode(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        found = _KINDS.get(stat.S_IFMT(mode), "no file")
        raise NotRegular(f"{path} is {found}; expected a regular file. {_ADVICE}")


_ADVICE: Final = "Remove it, and restore the file from a copy."
