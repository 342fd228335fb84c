"""Compare two measurements of costs: `onceproof diff A B`.

A figure changed if both are resolved and their intervals do not overlap. That is cautious: figures
whose intervals overlap a little can differ too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal

from onceproof.reports.cost.model import ComparisonPart, CostReport, EstimatePart, FigurePart
from onceproof.reports.cost.words import described, value

FORMAT: Final = "onceproof-cost-diff/1"
Change = Literal["less", "same", "more", "not resolved"]
_OTHER_LOAD: Final = 1.1
"""By how much capacities may differ until loads are not the same."""
_MORE_IS_GOOD: Final = frozenset({"throughput"})


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure in both measurements.

    Attributes:
        change: whether B is more, less, or not shown to differ.
        worse: whether that costs more.
    """

    comparison: str
    pair: str
    what: str
    a: str
    b: str
    change: Change
    worse: bool


@dataclass(frozen=True, kw_only=True)
class CostDiff:
    """The difference between two measurements."""

    rows: tuple[Row, ...]
    circumstances: tuple[str, ...]
    missing: tuple[str, ...]

    def as_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2, ensure_ascii=False) + "\n"

    @property
    def worse(self) -> bool:
        return any(row.worse for row in self.rows)

    @property
    def resolved(self) -> bool:
        return any(row.change != "not resolved" for row in self.rows)


def compare_costs(a: CostReport, b: CostReport) -> CostDiff:
    """Compare what both have measured; what differs in their setups is listed."""
    ours, theirs = _named(a), _named(b)
    return CostDiff(
        rows=tuple(
            row for name in ours if name in theirs for row in _rows(ours[name], theirs[name])
        ),
        circumstances=tuple(_circumstances(a, b)),
        missing=tuple(sorted(ours.keys() ^ theirs.keys())),
    )


def lines(found: CostDiff) -> Iterator[str]:
    """Yield what changed, then what did not, then the circumstances."""
    changed = [row for row in found.rows if row.change in ("less", "more")]
    yield f"{len(changed)} of {len(found.rows)} figures changed"
    for row in changed:
        yield f"  {'WORSE ' if row.worse else 'better'}  {row.comparison}: {row.pair}"
        yield f"          {row.what}: {row.a} → {row.b}"
    same = sum(row.change == "same" for row in found.rows)
    yield f"{same} were not shown to differ; {_unresolved(found)} are not resolved in one of them"
    for name in found.missing:
        yield f"  {name} was measured once only"
    for line in found.circumstances:
        yield f"  differs: {line}"


def _unresolved(found: CostDiff) -> int:
    return sum(row.change == "not resolved" for row in found.rows)


def _named(report: CostReport) -> dict[str, ComparisonPart]:
    return {part.name: part for part in report.comparisons}


def _rows(a: ComparisonPart, b: ComparisonPart) -> Iterator[Row]:
    for one in a.figures:
        other = b.figure(one.base, one.other, one.what, one.share)
        if other is not None:
            change = _change(one, other)
            yield Row(
                comparison=a.name,
                pair=f"{one.other} instead of {one.base}",
                what=described(one),
                a=value(one),
                b=value(other),
                change=change,
                worse=change == ("less" if one.what in _MORE_IS_GOOD else "more"),
            )


def _change(a: FigurePart, b: FigurePart) -> Change:
    one, other = _told(a), _told(b)
    if one is None or other is None:
        return "not resolved"
    if other.low > one.high:
        return "more"
    return "less" if other.high < one.low else "same"


def _told(figure: FigurePart) -> EstimatePart | None:
    return figure.estimate if figure.resolved else None


def _circumstances(a: CostReport, b: CostReport) -> Iterator[str]:
    """Yield what else differs, and may be the reason."""
    theirs = _named(b)
    for name, part in _named(a).items():
        if name in theirs:
            loads = part.capacity, theirs[name].capacity
            if max(loads) > _OTHER_LOAD * min(loads):
                yield f"capacity of {name}: {loads[0]:,.0f} → {loads[1]:,.0f} records a second"
            yield from _differences(
                f"setup of {name}", part.setup.model_dump(), theirs[name].setup.model_dump()
            )
    yield from _differences("machine", a.host, b.host)
    yield from _differences("version", a.versions, b.versions)


def _differences(what: str, a: Mapping[str, object], b: Mapping[str, object]) -> Iterator[str]:
    for key in dict.fromkeys((*a, *b)):
        if a.get(key) != b.get(key):
            yield f"{what}: {key}: {a.get(key, 'none')} → {b.get(key, 'none')}"
