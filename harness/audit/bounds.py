"""Where a window begins or ends, as it is written on a command line."""

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
    """A bound that means nothing; the text says what was expected."""


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One end of a window of inputs: a time, offsets, or (neither) the end of what is there.

    Attributes:
        at: milliseconds since 1970; the first record of each partition with this timestamp or a
            later one.
        offsets: partition → offset.
    """

    at: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str, *, end: str) -> Bound:
        """Read it; a time without a zone is local.

        Args:
            end: the word for the end of what is there, `earliest` or `latest`.

        Raises:
            BadBound: it is none.
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
