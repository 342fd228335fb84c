"""Draw concurrent readers: each session's reads in order, and the entries it missed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from onceproof.checkers.model import Row
from onceproof.reports.anomalies.pictures import absent
from onceproof.reports.anomalies.pictures.desk import DrawingContext, number, place
from onceproof.reports.anomalies.scene import Edge, Flow, Group, Line, Panel, Ref


def panels(desk: DrawingContext) -> Iterator[Panel]:
    sessions = sorted(
        {
            (str(row["reader"]), str(row["session"]))
            for table in ("assignments", "reads")
            for _, row in desk.rows(table)
        }
    )
    for reader, session in sessions:
        rows = [
            (ref, row)
            for table in ("assignments", "reads")
            for ref, row in desk.rows(table)
            if (str(row["reader"]), str(row["session"])) == (reader, session)
        ]
        several = sum(name == reader for name, _ in sessions) > 1
        title = f"{desk.name(reader)}, {desk.name(session)}" if several else desk.name(reader)
        yield Panel(
            title=f"{title}, {rows[0][1]['isolation']}",
            items=(*_assigned(desk, rows), *_read(desk, reader, session, rows)),
        )


def _assigned(desk: DrawingContext, rows: list[tuple[Ref, Row]]) -> Iterator[Line]:
    for ref, row in rows:
        if ref[0] == "assignments":
            until = "" if row["until_at"] is None else f", until {row['until_at']}"
            yield Line(
                label=f"assigned {desk.strip(row['topic'], row['partition'])} "
                f"from {row['position']}{until}",
                wires=(Edge(place(row, "position")),),
                flow=Flow.TO_SLOT,
                wrong=desk.wrong("assignments", row),
                refs=(ref,),
            )


def _read(
    desk: DrawingContext, reader: str, session: str, rows: list[tuple[Ref, Row]]
) -> Iterator[Line | Group]:
    missed = list(absent.reads(desk, reader, session))
    reads = sorted(
        ((ref, row) for ref, row in rows if ref[0] == "reads"),
        key=lambda r: number(r[1]["ordinal"]),
    )
    for txn, together in groupby(reads, key=lambda r: r[1]["txn"]):
        lines = []
        for ref, row in together:
            lines += [line for before, line in missed if before == row["ordinal"]]
            lines.append(_line(desk, ref, row))
        if txn is None:
            yield from lines
        else:
            yield Group(title=desk.name(txn), lines=tuple(lines))
    yield from (line for before, line in missed if before is None)


def _line(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    where = desk.at(row["topic"], row["partition"], row["offset"])
    attempt = f" ({desk.name(row['attempt'])})" if row["attempt"] is not None else ""
    return Line(
        label=f"reads {desk.name(row['record'])}{attempt} {where}",
        wires=(place(row),),
        wrong=desk.wrong("reads", row),
        refs=(ref,),
    )
