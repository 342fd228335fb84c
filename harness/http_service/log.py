"""The log of requests that the HTTP service has executed, in order.

A request counts as executed when its line is complete on disk; only then is it answered. So killing
the service loses no acknowledged request, and an incomplete line was never executed.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Request:
    """An executed request.

    Attributes:
        number: sequence number, from 1.
        headers: name and value of each, as received.
        body: text, with bytes that are not UTF-8 escaped.
        at: time on the machine's monotonic clock, in nanoseconds.
    """

    number: int
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: str
    at: int

    def header(self, name: str) -> str | None:
        """Return the first header of that name, ignoring case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Request:
        return cls(**{**data, "headers": tuple((name, value) for name, value in data["headers"])})


def log_of(work: Path) -> Path:
    return work / "http-service" / "requests.jsonl"


def read(file: Path) -> list[Request]:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return []
    *complete, _ = data.split(b"\n")
    return [Request.from_json(json.loads(line)) for line in complete]


class Log:
    """Writer of the log; not thread-safe."""

    def __init__(self, file: Path) -> None:
        """Open the log, and remove an incomplete last line that a killed service left."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self.requests = read(file)
        """Requests that earlier lives have executed."""
        self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        complete = file.read_bytes().rfind(b"\n") + 1
        os.ftruncate(self._file, complete)
        os.lseek(self._file, complete, os.SEEK_SET)

    def append(self, request: Request) -> None:
        """Append a request; it is on disk when this returns."""
        line = memoryview(json.dumps(asdict(request), ensure_ascii=False).encode() + b"\n")
        while line:
            line = line[os.write(self._file, line) :]
        os.fdatasync(self._file)
