"""Parse the bounds of an audit window, as given on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

_OFFSETS: Final = re.compile(r"\d+:\d+(,\d+:\d+)*")
WANTED: Final = (
    "a time such as 2026-11-24T22:00 or 2026-11-24T22:00Z, offsets such as 0:1200,1:1180, or "
)


class BadBound(ValueError):
    """A bound is invalid; the message says what was expected."""


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One end of a window of inputs: a time, offsets by partition, or (neither) the topic's end.

    `at`, in milliseconds since 1970, means each partition's first record with this or a later
    timestamp.
    """

    at: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str, *, end: str) -> Bound:
        """Parse a bound; `end` is `earliest` or `latest`. A time without a zone is local.

        Raises:
            BadBound: the text is not a bound, or names a partition twice.
        """
        if text == end:
            return cls()
        if _OFFSETS.fullmatch(text):
            pairs = [(int(p), int(at)) for p, at in (each.split(":") for each in text.split(","))]
            if len({partition for partition, _ in pairs}) < len(pairs):
                raise BadBound(f"{text!r} names a partition twice")
            return cls(offsets=dict(pairs))
        try:
            return cls(at=round(datetime.fromisoformat(text).astimezone().timestamp() * 1000))
        except ValueError:
            raise BadBound(f"invalid bound {text!r}: expected {WANTED}{end}") from None
