"""The requests that the HTTP service has carried out, on disk in their order.

A request is carried out when its line is complete on disk; only then is it answered. So a kill of
the service loses nothing that was acknowledged, and a line without its end was never carried out.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request that was carried out.

    Attributes:
        number: its place among all, from 1.
        headers: name and value of each, as they came.
        body: as text; bytes that are no UTF-8 are escaped.
        at: when, in nanoseconds of the machine's clock.
    """

    number: int
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: str
    at: int

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Request:
        return cls(**{**data, "headers": tuple((name, value) for name, value in data["headers"])})


def log_of(work: Path) -> Path:
    """Where the log of a run is."""
    return work / "http-service" / "requests.jsonl"


def read(file: Path) -> list[Request]:
    """All requests that were carried out; none while there is no log."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return []
    *complete, _ = data.split(b"\n")
    return [Request.from_json(json.loads(line)) for line in complete]


class Log:
    """The log as the service writes it; one at a time."""

    def __init__(self, file: Path) -> None:
        """Open it behind its last complete line: what a killed service left there goes."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self.requests = read(file)
        """What was in it."""
        self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        complete = file.read_bytes().rfind(b"\n") + 1
        os.ftruncate(self._file, complete)
        os.lseek(self._file, complete, os.SEEK_SET)

    def append(self, request: Request) -> None:
        """Add a request; it is on disk when this returns."""
        line = memoryview(json.dumps(asdict(request), ensure_ascii=False).encode() + b"\n")
        while line:
            line = line[os.write(self._file, line) :]
        os.fdatasync(self._file)
