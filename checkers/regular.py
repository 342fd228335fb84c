"""Open regular files in a folder that others may have written to.

A pipe or device would block its reader, and a link can lead anywhere. So only regular files inside
the folder are opened, up to a size limit.
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
    """The path is not a regular file in its folder; the message says what it is and what to do."""


def check_regular(path: Path, within: Path) -> None:
    """Check that a path is a regular file, and that no link on the way leads out of `within`.

    A missing file passes.

    Raises:
        NotRegular: it is something else, or is elsewhere.
        OSError: it cannot be examined.
    """
    check_inside(path, within)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    _check_mode(path, mode)


def open_regular(path: Path, within: Path, *, at_most: int | None = None) -> BufferedReader:
    """Open a file in the folder `within` for reading, if it has at most `at_most` bytes.

    Raises:
        NotRegular: it is not a regular file, is elsewhere, or is larger.
        OSError: it cannot be opened.
    """
    check_regular(path, within)
    # The file may have been replaced by a pipe, so do not wait for a writer.
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
    """Read a whole file; raises as `open_regular` does."""
    with open_regular(path, within, at_most=at_most) as file:
        return file.read()


def check_inside(path: Path, within: Path) -> None:
    """Check that no link on the way to a path leads out of a folder; raises `NotRegular`."""
    inside = within.resolve()
    try:
        found = path.resolve()
    except RuntimeError:  # a loop of links, before Python 3.13
        raise NotRegular(f"{path} is in a loop of symbolic links. {_ADVICE}") from None
    if not found.is_relative_to(inside):
        raise NotRegular(
            f"{path} is a symbolic link to {found}, outside its folder; expected a regular file in "
            f"{within}. {_ADVICE}"
        )


def _check_mode(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        found = _KINDS.get(stat.S_IFMT(mode), "not a file")
        raise NotRegular(f"{path} is {found}; expected a regular file. {_ADVICE}")


_ADVICE: Final = "Remove it, and restore the file from a copy."
