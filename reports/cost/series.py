"""The cost over one setting, such as the commit interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from onceproof.harness.cost.ways import at_interval
from onceproof.reports.cost.model import (
    ComparisonPart,
    CostReport,
    EstimatePart,
    FigurePart,
    SetupPart,
    Unit,
)
from onceproof.reports.cost.words import MAIN_SHARE

_WHAT: Final[tuple[tuple[str, float | None, str], ...]] = (
    ("throughput", None, "Throughput"),
    ("p99", MAIN_SHARE, "99th percentile of latency at 60 % load"),
)
_SETTINGS: Final = {
    "commit_records": "records per transaction",
    "size": "bytes of a record",
    "partitions": "partitions",
    "linger": "linger.ms",
}
"""Fields of a setup."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """The cost at one value of a setting; no estimate: not resolved."""

    value: float
    label: str
    estimate: EstimatePart | None


@dataclass(frozen=True, kw_only=True)
class Series:
    """The cost at all measured values of a setting."""

    title: str
    setting: str
    unit: Unit
    points: tuple[Point, ...]


def all_series(report: CostReport) -> Iterator[Series]:
    """Yield the series of each target and setting that was measured at two values or more."""
    for target in dict.fromkeys(part.target for part in report.comparisons):
        parts = [part for part in report.comparisons if part.target == target]
        for what, share, title in _WHAT:
            found = _by_interval(parts[0], what, share) if parts[0].setup.commit_every else []
            if len(found) > 1:
                yield _series(f"{target}: {title}", "milliseconds between commits", found)
            for field, setting in _SETTINGS.items():
                found = _by_setting(parts, field, what, share)
                if len(found) > 1:
                    yield _series(f"{target}: {title}", setting, found)


def _by_interval(
    part: ComparisonPart, what: str, share: float | None
) -> list[tuple[float, FigurePart]]:
    """Return the first pair's figure, and those of the same way with other intervals."""
    base, other, _ = next(part.pairs())
    found = [(part.setup.commit_every[0] * 1e3, part.figure(base, other, what, share))]
    for interval in part.setup.commit_every[1:]:
        figure = part.figure(base, at_interval(other, interval), what, share)
        found.append((interval * 1e3, figure))
    return [(value, figure) for value, figure in found if figure is not None]


def _by_setting(
    parts: list[ComparisonPart], field: str, what: str, share: float | None
) -> list[tuple[float, FigurePart]]:
    """Return the figures of the parts of a grid that differ in this setting only."""
    grid = parts[1:]
    if not grid:
        return []
    usual = grid[0].setup

    def others(setup: SetupPart) -> dict[str, object]:
        return setup.model_dump(exclude={field})

    found = {}
    for part in grid:
        base, other, _ = next(part.pairs())
        figure = part.figure(base, other, what, share)
        value = getattr(part.setup, field)
        by_time = field == "commit_records" and not value
        if figure is not None and others(part.setup) == others(usual) and not by_time:
            found[value] = figure
    return list(found.items())


def _series(title: str, setting: str, found: list[tuple[float, FigurePart]]) -> Series:
    ordered = sorted(found, key=lambda pair: pair[0])
    return Series(
        title=title,
        setting=setting,
        unit=ordered[0][1].unit,
        points=tuple(
            Point(
                value=value,
                label=f"{value:,g}",
                estimate=figure.estimate if figure.resolved else None,
            )
            for value, figure in ordered
        ),
    )
