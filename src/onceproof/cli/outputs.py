"""Keep a command running when the reader of its standard output or standard error is gone.

`| head` may close the pipe early, or a CI log may break off. Later output is discarded, and the
command still writes its files and sets its exit code.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, Final, TextIO

__all__ = ["outlive_readers"]


_GONE: Final = frozenset({errno.EPIPE, errno.EIO})
"""Errors of a closed pipe or terminal."""


class _Pipe(io.FileIO):
    """A file descriptor that becomes `/dev/null` when its reader is gone."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())  # for child processes, too
            os.close(nowhere)
            return memoryview(data).nbytes


def outlive_readers() -> None:
    sys.stdout, sys.stderr = _ignoring_closed_pipe(sys.stdout), _ignoring_closed_pipe(sys.stderr)


def _ignoring_closed_pipe(stream: TextIO) -> TextIO:
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):  # no stream, or not a real file
        return stream
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(number, "wb", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        # Unbuffered mode (`-u`) and standard error are flushed after each line.
        line_buffering=stream.line_buffering or stream.write_through or stream is sys.stderr,
    )
