"""Moments and cycles for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len

from onceproof.reports.anomalies.canvas import Canvas, Tone
from onceproof.reports.anomalies.names import fitted
from onceproof.reports.anomalies.scene import Arc, Moment
from onceproof.reports.anomalies.text_columns import WRONG

_STEP = 8


def paint_moments(canvas: Canvas, moments: Sequence[Moment], top: int, width: int) -> int:
    """A row for each moment, a column for each time; returns the row below."""
    times = sorted({t for m in moments for t in (m.start, m.end) if t is not None})
    label = min(max(cell_len(m.label) for m in moments) + 4, width // 2)
    step = max(2, min(_STEP, (width - label - 2) // len(times)))
    columns = {time: label + number * step for number, time in enumerate(times)}
    last = columns[times[-1]] + (step if any(m.lasting and m.end is None for m in moments) else 0)
    canvas.put(0, top, "time", Tone.TITLE)
    if step > max(len(str(time)) for time in times):
        for time, x in columns.items():
            canvas.put(x, top, str(time))
    for y, moment in enumerate(moments, top + 1):
        tone = Tone.WRONG if moment.wrong else Tone.PLAIN
        mark = WRONG if moment.wrong else "  "
        canvas.put(0, y, fitted(f"{mark}{moment.label}", label - 1), tone)
        start = columns[moment.start]
        if moment.lasting:
            end = last if moment.end is None else columns[moment.end]
            canvas.across(start, end, y, wrong=moment.wrong)
            canvas.put(start, y, "├" if end > start else "│", tone)
            if moment.end is None:
                canvas.put(end, y, "…", tone)
            elif end > start:
                canvas.put(end, y, "┤", tone)
        else:
            canvas.put(start, y, "●", tone)
    return top + len(moments) + 2


def paint_cycle(canvas: Canvas, cycle: Sequence[Arc], top: int, width: int) -> int:
    """The cycle from top to bottom and back; returns the row below."""
    canvas.put(0, top, "cycle", Tone.TITLE)
    y = first = top + 1
    for arc in cycle:
        canvas.put(6, y, arc.source, Tone.WRONG)
        why = textwrap.wrap(f"{arc.kind}: {arc.why}", max(12, width - 11)) or [arc.kind]
        for part in why:
            y += 1
            canvas.put(10, y, part)
        canvas.down(7, y - len(why), y + 1, wrong=True)
        y += 1
        if arc is not cycle[-1]:
            canvas.put(7, y, "▼", Tone.WRONG)
            y += 1
    canvas.across(2, 7, y, wrong=True)
    canvas.down(2, first, y, wrong=True)
    canvas.across(2, 4, first, wrong=True)
    canvas.put(4, first, "▶", Tone.WRONG)
    return y + 2
