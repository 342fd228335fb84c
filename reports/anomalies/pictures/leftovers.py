"""List in words the rows that nothing else draws, such as phases and faults."""

from __future__ import annotations

from collections.abc import Iterator

from onceproof.checkers.model import Row
from onceproof.reports.anomalies.pictures.desk import DrawingContext
from onceproof.reports.anomalies.scene import Line, Panel, Ref


def panels(desk: DrawingContext, drawn: frozenset[Ref]) -> Iterator[Panel]:
    """Yield a panel of all rows that are not in `drawn`, if there are any."""
    left = [
        (ref, row) for table in desk.trial.rows for ref, row in desk.rows(table) if ref not in drawn
    ]
    phases = [(ref, row) for ref, row in left if ref[0] == "phases"]
    lines = [_line_of(desk, ref, row) for ref, row in left if ref[0] != "phases"]
    outcomes = [outcome for _, row in phases for outcome in (row["phase"], row["outcome"])]
    if outcomes == ["settle", "ok", "collect", "ok"]:
        refs = tuple(ref for ref, _ in phases)
        lines.append(Line(label="settled and collected", refs=refs))
    else:
        lines += [_phase(desk, ref, row) for ref, row in phases]
    if lines:
        yield Panel(title="the run", items=tuple(lines))


def _phase(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    outcome = "did not end" if row["outcome"] is None else row["outcome"]
    label = f"phase {desk.name(row['phase'])}: {outcome}"
    return Line(label=label, wrong=desk.wrong("phases", row), refs=(ref,))


def _line_of(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    table, _ = ref
    columns = ", ".join(
        f"{column} {desk.name(row[column])}"
        for column in row
        if desk.has_column(table, column) and row[column] is not None
    )
    return Line(label=f"{table}: {columns}", wrong=desk.wrong(table, row), refs=(ref,))
