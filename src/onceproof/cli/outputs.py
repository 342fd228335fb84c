"""Standard output and standard error that may be left by who reads them.

`| head` has seen enough, and a CI's log may break off; neither says anything
of a run. What is written after that goes nowhere, and the command goes on to its files and its exit
code.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, Final, TextIO

__all__ = ["outlive_readers"]


_GONE: Final = frozenset({errno.EPIPE, errno.EIO})
"""What it comes to that a pipe is closed, or a terminal."""


class _Pipe(io.FileIO):
    """A file descriptor that leads nowhere as soon as nobody reads it any more."""

    def write(self, data: Any, /) -> int:
        """Write; all of it counts as written if there is nobody."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())  # for what we start, too
            os.close(nowhere)
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Go on when nobody reads standard output or standard error any more."""
    sys.stdout, sys.stderr = _outliving(sys.stdout), _outliving(sys.stderr)


def _outliving(stream: TextIO) -> TextIO:
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):  # none, or one that is made up
        return stream
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(number, "wb", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        # Who wants everything at once (`-u`), or looks at errors, gets whole lines at once.
        line_buffering=stream.line_buffering or stream.write_through or stream is sys.stderr,
    )
