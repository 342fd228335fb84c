"""How an engine grows: with cores, and with records, in sentences.

Spark's own start weighs more than judging a million records. So each ratio
is told twice, of the whole command and of what is left without the cost of an almost empty history.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from benchmarks.trial import Line


def base(line: Line, lines: Sequence[Line]) -> float:
    """What the smallest history of the same section costs by the same means, in seconds."""
    alike = [other for other in lines if (other.section, other.what) == (line.section, line.what)]
    return min(alike, key=lambda other: other.records).best


def growth(lines: Sequence[Line]) -> Iterator[str]:
    """With cores and with records, as far as the lines of one section tell."""
    judged = [line for line in lines if line.best > base(line, lines)]
    for one, other in pairwise(sorted(judged, key=lambda line: (line.records, line.what))):
        if one.records == other.records:
            yield (
                f"{one.section}, {one.records:,} records: {other.what} is "
                f"{_ratios(one, other, lines)} times as fast as {one.what}"
            )
    for one, other in pairwise(sorted(judged, key=lambda line: (line.what, line.records))):
        if one.what == other.what:
            yield (
                f"{one.section}, {one.what}: {other.records / one.records:g} times the records "
                f"({one.records:,} → {other.records:,}) take {_ratios(other, one, lines)} "
                "times as long"
            )


def _ratios(more: Line, less: Line, lines: Sequence[Line]) -> str:
    net = [line.best - base(line, lines) for line in (more, less)]
    return f"{more.best / less.best:.1f} (without the fixed cost {net[0] / net[1]:.1f})"
