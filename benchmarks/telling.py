"""The table and the JSON of a benchmark.

A figure alone says little of a noisy machine, so that each line has the best
and the median, and the ratio to what ran beside it.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Final

from benchmarks.growing import base
from benchmarks.trial import Line

_HEAD: Final = (
    "", "records", "best", "median", "cpu", "peak", "records/s", "against", "ratio", "limit",
)  # fmt: skip


def table(lines: Sequence[Line], fixed: float) -> str:
    """One aligned table; `fixed` is what an almost empty history costs, in seconds."""
    rows = [_HEAD, *(_row(line, _fixed(line, lines, fixed)) for line in lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    told = []
    for row in rows:
        first, *rest = (
            cell.ljust(width) if i in (0, len(row) - 1) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        told.append("  ".join([first, *rest]).rstrip())
    return "\n".join(told)


def as_json(lines: Sequence[Line], fixed: float, notes: Iterable[str]) -> str:
    """Everything that was measured, every run of it."""
    return json.dumps(
        {
            "machine": _machine(),
            "fixed_seconds": fixed,
            "notes": list(notes),
            "lines": [_told(line, _fixed(line, lines, fixed)) for line in lines],
        },
        indent=2,
    )


def machine() -> str:
    """This machine, in a few words."""
    m = _machine()
    return f"{m['cores']} cores, {m['memory'] / 1e9:.0f} GB, Python {m['python']}, {m['system']}"


def _machine() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    }


def _told(line: Line, fixed: float) -> dict[str, Any]:
    return asdict(line) | {
        "best": line.best,
        "median": line.median,
        "peak": line.peak,
        "records_per_second": _speed(line, fixed),
        "ratio": line.ratio,
        "met": line.met,
    }


def _row(line: Line, fixed: float) -> tuple[str, ...]:
    speed = _speed(line, fixed)
    return (
        f"{line.section}: {line.what}",
        f"{line.records:,}",
        f"{line.best:.2f} s",
        f"{line.median:.2f} s",
        f"{min(cost.cpu for cost in line.judged):.2f} s",
        f"{line.peak / 1e6:,.0f} MB",
        f"{speed:,.0f}" if speed else "",
        f"{min(cost.wall for cost in line.against):.2f} s" if line.against else "",
        f"{line.ratio:.1f}" if line.ratio else "",
        _limit(line),
    )


def _fixed(line: Line, lines: Sequence[Line], fixed: float) -> float:
    """What starting costs; Spark's start is its own."""
    return base(line, lines) if line.section == "spark" else fixed


def _speed(line: Line, fixed: float) -> float | None:
    """Records per second of what is left when the fixed cost is taken away; best run.

    None where little but the fixed cost is there: it would be the quotient of two noises.
    """
    rest = line.best - fixed
    return line.records / rest if rest > 0.2 * fixed else None


def _limit(line: Line) -> str:
    if line.limit is None:
        return ""
    said = f"{line.limit.seconds:g} s"
    if line.limit.peak is not None:
        said += f", {line.limit.peak / 1e9:g} GB"
    return f"{said}: {'met' if line.met else 'missed'}"
