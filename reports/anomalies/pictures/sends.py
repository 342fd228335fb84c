"""Draw writers: each session's sends in order, with transactions as groups."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from onceproof.checkers.model import Row, Value
from onceproof.reports.anomalies.pictures.absent import send_status, states_of_units
from onceproof.reports.anomalies.pictures.desk import DrawingContext, number
from onceproof.reports.anomalies.scene import Flow, Group, Line, Panel, Place, Ref


def panels(desk: DrawingContext) -> Iterator[Panel]:
    """Yield a panel per session. Transactions without sends come last in it."""
    sends = sorted(
        desk.rows("sends"), key=lambda r: (str(r[1]["session"]), number(r[1]["ordinal"]))
    )
    sessions = {str(row["session"]) for table in ("sends", "txns") for _, row in desk.rows(table)}
    txns = {row["txn"]: (ref, row) for ref, row in desk.rows("txns")}
    done: set[Value] = set()
    for session in sorted(sessions):
        items: list[Line | Group] = []
        mine = [(ref, row) for ref, row in sends if row["session"] == session]
        for txn, together in groupby(mine, key=lambda r: r[1]["txn"]):
            lines = [_send(desk, ref, row) for ref, row in together]
            if txn is None:
                items += lines
            else:
                items.append(_transaction(desk, txn, txns.get(txn), lines, again=txn in done))
                done.add(txn)
        for txn, (ref, row) in txns.items():
            if row["session"] == session and txn not in done:
                items.append(_transaction(desk, txn, (ref, row), []))
                done.add(txn)
        title = "application" if len(sessions) == 1 else f"application, {desk.name(session)}"
        if items:
            yield Panel(title=title, items=tuple(items))


def _send(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    topic = f" to {desk.name(row['topic'])}" if desk.has_column("sends", "topic") else ""
    attempt = f" ({desk.name(row['attempt'])})" if desk.has_column("sends", "attempt") else ""
    extras = desk.extras("sends", row, "key", "digest", "error")
    wires = desk.places_of_send(row)
    offset = "" if row["offset"] is None or _shown(row, wires) else f" @{row['offset']}"
    return Line(
        label=f"send {desk.name(row['record'])}{attempt}{topic}{extras}: {row['outcome']}{offset}",
        word=send_status(desk, row),
        wires=wires,
        flow=Flow.TO_SLOT,
        wrong=desk.wrong("sends", row),
        refs=(ref,),
    )


def _shown(row: Row, wires: tuple[Place, ...]) -> bool:
    return any(
        wire.offset == row["offset"] and row["partition"] in (None, wire.partition)
        for wire in wires
    )


def _transaction(
    desk: DrawingContext,
    txn: Value,
    known: tuple[Ref, Row] | None,
    lines: list[Line],
    *,
    again: bool = False,
) -> Group:
    title = desk.name(txn)
    if known is not None:
        _, row = known
        title += " committed" if row["outcome"] == "committed" else f" {row['outcome']}"
        if row["outcome"] == "info":
            title += " (outcome unknown)"
    if not again:
        lines += [_staged(desk, r, row) for r, row in desk.rows("staged") if row["txn"] == txn]
    return Group(
        title=title,
        lines=tuple(lines),
        wrong=known is not None and desk.wrong("txns", known[1]),
        refs=(known[0],) if known is not None else (),
    )


def _staged(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    where = f"{desk.strip(row['topic'], row['partition'])}@{row['offset']}"
    return Line(
        label=f"stage {desk.name(row['owner'])} {where}",
        word=states_of_units(desk, "offset", row),
        wrong=desk.wrong("staged", row),
        refs=(ref,),
    )
