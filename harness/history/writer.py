"""Write history as append-only JSON Lines; every process of a run does so.

Flushed lines survive the death of the process. Only the last line may be cut short by a crash.
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
    """The history cannot be written, for instance because the disk is full."""


class HistoryWriter:
    """The file of one writer. Thread-safe; every call is flushed before it returns.

    Raises:
        HistoryNotWritten: the file cannot be written.
    """

    def __init__(self, folder: Path, writer: str) -> None:
        self.writer = writer
        self.path = folder / f"{writer}.jsonl"
        # Unbuffered: closing the file must not retry a failed write.
        self._file = self.path.open("ab", buffering=0)
        self._lock = threading.Lock()
        self._clock = clock_id()
        self._next_pair = 0
        self._broken: HistoryNotWritten | None = None

    def write(self, line: str, /, **fields: Any) -> None:
        """Write one line of kind `line`: a table's name, or for instance `called` or `returned`."""
        self.write_all(line, [fields])

    def write_all(self, line: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        data = b"".join(_encoded({"t": line, **row}) for row in rows)
        with self._lock:
            if self._broken is not None:
                # Nothing may follow a line that was cut short: it would be read as damage.
                raise self._broken
            try:
                self._write_fully(self._pair() + data)
            except OSError as error:
                self._broken = HistoryNotWritten(error.errno, error.strerror, str(self.path))
                raise self._broken from error

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _write_fully(self, data: bytes) -> None:
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
