"""Requests that the run's HTTP service has carried out; a recognized repetition is not carried out.

Whatever is in its log has happened, even if the client got no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from onceproof.harness.http_service.log import log_of, read
from onceproof.harness.http_service.settings import below
from onceproof.harness.user_pipeline.identity import BadRule, Written
from onceproof.harness.user_pipeline.outputs.base import FoundEffect
from onceproof.harness.user_pipeline.outputs.kind import RECORD, OutputKind

HTTP: Final = "http"
_PATH: Final = re.compile(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*")


class HttpHeaders(dict[str, str]):
    """Case-insensitive headers of a request; the first of several counts."""

    def __init__(self, headers: tuple[tuple[str, str], ...]) -> None:
        super().__init__({name.lower(): value for name, value in reversed(headers)})

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        return super().get(name.lower(), default)


class Requests:
    """Requests to a path and below it."""

    def __init__(self, file: Path, path: str) -> None:
        self._file = file
        self._path = path

    def size(self) -> int:
        """Return the size of the service's log in bytes."""
        try:
            return self._file.stat().st_size
        except FileNotFoundError:
            return 0

    def found(self) -> Iterator[FoundEffect]:
        """Yield requests in the order of execution."""
        for request in read(self._file):
            rest = below(request.path, self._path)
            if rest is not None:
                headers: Mapping[str, str] = HttpHeaders(request.headers)
                deleted = request.method == "DELETE" and not request.body
                value = None if deleted else request.body
                yield FoundEffect(
                    written=Written(value=value, key=rest or None, headers=headers),
                    position=f"{request.method} {request.path} no. {request.number}",
                    log=self._path,
                )

    def hanging(self) -> bool:
        """False: a request is carried out at once, or not at all."""
        return False


def _check(place: str) -> None:
    if not _PATH.fullmatch(place):
        raise BadRule(
            f"invalid path {place!r} of the HTTP service: expected segments of letters, digits, "
            "dots, underscores and hyphens, separated by slashes, such as v1/shipments"
        )


OUTPUTS: Final = (
    OutputKind(
        prefix=HTTP,
        place="PATH",
        says="Requests to a path of the run's HTTP service and to paths below it.",
        views={"requests": lambda place, where: Requests(log_of(where.work), place)},
        check=_check,
        rules=RECORD,
        untested="How your own service recognizes repeated requests, and for how long: the run's "
        "service replaced it and never forgets an idempotency key.",
    ),
)
