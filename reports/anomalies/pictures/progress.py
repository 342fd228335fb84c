"""Draw progress in a log: its end offsets, micro-batches and stored positions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from onceproof.checkers.model import Row
from onceproof.reports.anomalies.pictures import absent
from onceproof.reports.anomalies.pictures.desk import DrawingContext, number, place
from onceproof.reports.anomalies.scene import Edge, Flow, Line, Panel, Ref

_ENDS: Final = {
    "log_start": "log starts at",
    "last_stable_offset": "last stable offset",
    "high_watermark": "high watermark",
}


def panels(desk: DrawingContext) -> Iterator[Panel]:
    ends = tuple(line for ref, row in desk.rows("partitions") for line in _ends(desk, ref, row))
    if ends:
        yield Panel(title="log offsets", items=ends)
    for owner, ranges in _by_owner(desk, "ranges"):
        lines = tuple(_range(desk, ref, row) for ref, row in ranges)
        gaps = tuple(absent.gaps(desk))
        yield Panel(title=f"micro-batches of {owner}", items=(*lines, *gaps))
    for owner, positions in _by_owner(desk, "positions"):
        lines = tuple(_position(desk, ref, row) for ref, row in positions)
        yield Panel(title=f"positions of {owner}", items=lines)


def _by_owner(desk: DrawingContext, table: str) -> Iterator[tuple[str, list[tuple[Ref, Row]]]]:
    order = "ordinal" if table == "positions" else "batch"
    rows = sorted(desk.rows(table), key=lambda r: (str(r[1]["owner"]), number(r[1][order]), r[0]))
    for owner, mine in groupby(rows, key=lambda r: r[1]["owner"]):
        yield desk.name(owner), list(mine)


def _ends(desk: DrawingContext, ref: Ref, row: Row) -> Iterator[Line]:
    given = [column for column in _ENDS if desk.has_column("partitions", column)]
    for column in given:
        yield Line(
            label=f"{_ENDS[column]} {desk.at(row['topic'], row['partition'], row[column])}",
            wires=(Edge(place(row, column)),),
            flow=Flow.TO_SLOT,
            wrong=column != "log_start" and desk.wrong("partitions", row),
            refs=(ref,),
        )
    if not given:
        yield Line(label=f"{desk.strip(row['topic'], row['partition'])} was collected", refs=(ref,))


def _range(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    where = f"{row['partition']}@" if len(desk.partitions) > 1 else ""
    execution = (
        f" by {desk.name(row['execution'])}" if desk.has_column("ranges", "execution") else ""
    )
    uncommitted = "" if row["committed"] else ", not committed"
    return Line(
        label=f"batch {row['batch']} {where}[{row['start_offset']}, {row['end_offset']})"
        f"{execution}{uncommitted}",
        span=(Edge(place(row, "start_offset")), Edge(place(row, "end_offset"))),
        wrong=desk.wrong("ranges", row),
        refs=(ref,),
    )


def _position(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    kind = "planned " if row["kind"] == "planned" else ""
    batch = f" of batch {row['batch']}" if row["batch"] is not None else ""
    sink = f" in {desk.name(row['sink'])}" if row["sink"] is not None else ""
    by = " (set by the harness)" if row["by"] == "harness" else ""
    return Line(
        label=f"{kind}{row['role']} {desk.at(row['topic'], row['partition'], row['offset'])}"
        f"{batch}{sink}{by}",
        wires=(Edge(place(row)),),
        flow=Flow.TO_SLOT,
        wrong=desk.wrong("positions", row),
        refs=(ref,),
    )
