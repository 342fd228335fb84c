"""Lifetimes of processes, and other rows with a time because their order matters."""

from __future__ import annotations

from collections.abc import Iterator

from onceproof.checkers.model import Row, Value
from onceproof.reports.anomalies.pictures.desk import DrawingContext, number
from onceproof.reports.anomalies.scene import Moment, Ref


def moments(desk: DrawingContext) -> tuple[Moment, ...]:
    return tuple(sorted(_all(desk), key=lambda moment: (moment.start, not moment.lasting)))


def _all(desk: DrawingContext) -> Iterator[Moment]:
    timed = any(
        desk.has_column(table, column)
        for table, column in (
            ("instances", "started_at"), ("effects", "at"), ("reads", "at"),
            ("txns", "began_at"), ("txns", "commit_called_at"), ("txns", "ended_at"),
        )
    )  # fmt: skip
    for ref, row in desk.rows("instances"):
        wrong = desk.wrong("instances", row)
        yield _life(desk.name(row["instance"]), ref, row, ("started_at", "ended_at"), wrong)
    if not timed:
        return
    for ref, row in desk.rows("txns"):
        yield from _transaction(desk, ref, row)
    for ref, row in desk.rows("reads"):
        if desk.has_column("reads", "at"):
            label = f"{desk.name(row['reader'])} reads {desk.name(row['record'])}"
            yield _point(label, ref, row["at"], desk.wrong("reads", row))
    for ref, row in desk.rows("effects"):
        if row["at"] is not None:
            label = f"{desk.name(row['position'])} is written"
            yield _point(label, ref, row["at"], desk.wrong("effects", row))
    for ref, row in desk.rows("sends"):
        if desk.has_column("sends", "called_at"):
            life = ("called_at", "returned_at")
            wrong = desk.wrong("sends", row)
            yield _life(f"send {desk.name(row['record'])}", ref, row, life, wrong)


def _transaction(desk: DrawingContext, ref: Ref, row: Row) -> Iterator[Moment]:
    name, wrong = desk.name(row["txn"]), desk.wrong("txns", row)
    if desk.has_column("txns", "began_at") or row["ended_at"] is not None:
        yield _life(name, ref, row, ("began_at", "ended_at"), wrong)
    if row["commit_called_at"] is not None:
        yield _point(f"commit of {name} called", ref, row["commit_called_at"], wrong)


def _life(label: str, ref: Ref, row: Row, columns: tuple[str, str], wrong: bool) -> Moment:
    start, end = (row[column] for column in columns)
    return Moment(
        label=label,
        start=number(start),
        end=None if end is None else number(end),
        lasting=True,
        wrong=wrong,
        refs=(ref,),
    )


def _point(label: str, ref: Ref, at: Value, wrong: bool) -> Moment:
    return Moment(label=label, start=number(at), wrong=wrong, refs=(ref,))
