"""Chart findings over the timestamps of their inputs, as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from onceproof.reports.audit.model import Bucket

WIDTH: Final = 936
HEIGHT: Final = 120
_LEAST: Final = 2.0
"""Minimum height of a bar in pixels."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A bar, in pixels from the top left corner."""

    x: float
    y: float
    width: float
    height: float
    title: str


def bars(buckets: tuple[Bucket, ...], anomaly: str) -> tuple[Bar, ...]:
    """Return a bar for each period with findings of an anomaly."""
    most = max((bucket.found.get(anomaly, 0) for bucket in buckets), default=0)
    width = WIDTH / max(len(buckets), 1)
    made = []
    for place, bucket in enumerate(buckets):
        count = bucket.found.get(anomaly, 0)
        if count:
            height = max(_LEAST, count / most * HEIGHT)
            made.append(
                Bar(
                    x=round(place * width, 2),
                    y=round(HEIGHT - height, 2),
                    width=round(max(width - 1, 1), 2),
                    height=round(height, 2),
                    title=f"from {bucket.start}: {count} of {bucket.inputs} inputs",
                )
            )
    return tuple(made)
