"""Append-only JSON Lines: how every process of a run writes history.

What a writer has flushed survives any death of its process, because it is
with the kernel by then. A line that a crash cut short is the last of its file; the reader counts it
and goes on.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onceproof.harness.clock import clock_id

_CLOCK_EVERY = 10_000_000_000  # nanoseconds between two pairs of (monotonic, wall)


class HistoryNotWritten(OSError):
    """A line of history could not be written, for instance because the disk is full."""


class HistoryWriter:
    """One writer's file. Thread-safe; every call is flushed before it returns.

    Raises:
        HistoryNotWritten: the file cannot be written.
    """

    def __init__(self, folder: Path, writer: str) -> None:
        self.writer = writer
        self.path = folder / f"{writer}.jsonl"
        # Unbuffered: a write that failed must not be tried again when the file is closed.
        self._file = self.path.open("ab", buffering=0)
        self._lock = threading.Lock()
        self._clock = clock_id()
        self._next_pair = 0
        self._broken: HistoryNotWritten | None = None

    def write(self, line: str, /, **fields: Any) -> None:
        """Write one line: its kind (a table's name, or `called` / `returned`) and its fields."""
        self.write_all(line, [fields])

    def write_all(self, line: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        """Write many lines of one kind and flush once."""
        data = b"".join(_encoded({"t": line, **row}) for row in rows)
        with self._lock:
            if self._broken is not None:
                # Behind a line that was cut short nothing may follow: it would read as damage.
                raise self._broken
            try:
                self._write_whole(self._pair() + data)
            except OSError as error:
                self._broken = HistoryNotWritten(error.errno, error.strerror, str(self.path))
                raise self._broken from error

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _write_whole(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def _pair(self) -> bytes:
        monotonic = time.monotonic_ns()
        if monotonic < self._next_pair:
            return b""
        self._next_pair = monotonic + _CLOCK_EVERY
        return _encoded(
            {
                "t": "clocks",
                "writer": self.writer,
                "clock": self._clock,
                "monotonic_ns": monotonic,
                "wall_ns": time.time_ns(),
            }
        )


def _encoded(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
