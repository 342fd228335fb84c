"""Draw logs: one strip per partition, with its entries, missing ones and elided ranges.

Offsets are labels: a gap between two of them is drawn only if two different edges would coincide in
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from onceproof.checkers.model import Row
from onceproof.reports.anomalies.names import Names
from onceproof.reports.anomalies.pictures.desk import DrawingContext, number, place
from onceproof.reports.anomalies.scene import Look, Place, Ref, Slot, Strip

_TITLE = 9


def strips(desk: DrawingContext) -> Iterator[Strip]:
    title = Names(_TITLE)
    found = {place(row): _entry(desk, ref, row, title) for ref, row in desk.rows("log")}
    for at in _pointed_at(desk):
        found.setdefault(at, _ghost(at))
    edges = set(_edges(desk))
    for topic, partition in desk.partitions:
        mine = {at: s for at, s in found.items() if (at.topic, at.partition) == (topic, partition)}
        marks = {at.offset for at in edges if (at.topic, at.partition) == (topic, partition)}
        slots = sorted([*mine.values(), *_elided(topic, partition, mine, marks)], key=_offset)
        if slots or (marks and topic == desk.trial.topic):
            policy = _policy(desk, topic, partition)
            name = f"{desk.strip(topic, partition)}{policy}"
            yield Strip(name=name, slots=tuple(slots) or (_unknown(topic, partition, marks),))


def _entry(desk: DrawingContext, ref: Ref, row: Row, title: Names) -> Slot:
    marker = row["kind"] != "data"
    committed = bool(row["committed"])
    in_log = Look.COMMITTED if committed else Look.OPEN
    lines = [str(row["kind"]) if marker else title(row["record"]), f"@{row['offset']}"]
    if not marker:
        lines += [
            title(row[column])
            for column in ("key", "digest")
            if desk.has_column("log", column) and row[column] is not None
        ]
    if not marker and not committed:
        lines.append("aborted" if _aborted(desk, row) else "open")
    return Slot(
        place=place(row),
        lines=tuple(lines),
        look=Look.MARKER if marker else in_log,
        wrong=desk.wrong("log", row),
        refs=(ref,),
    )


def _aborted(desk: DrawingContext, row: Row) -> bool:
    txns = {r["txn"] for _, r in desk.rows("txns") if r["outcome"] == "aborted"}
    return any(
        send["txn"] in txns and place(row) in desk.places_of_send(send)
        for _, send in desk.rows("sends")
    )


def _ghost(at: Place) -> Slot:
    return Slot(place=at, lines=("nothing", f"@{at.offset}"), look=Look.GHOST)


def _pointed_at(desk: DrawingContext) -> Iterator[Place]:
    """Yield the places that other rows refer to."""
    for _, row in desk.rows("sends"):
        yield from desk.places_of_send(row)
    for _, row in desk.rows("reads"):
        yield place(row)
    for _, row in desk.rows("effects"):
        yield from desk.source(row)
    for _, row in desk.rows("journal"):
        yield from desk.source(row)


def _edges(desk: DrawingContext) -> Iterator[Place]:
    for _, row in desk.rows("positions"):
        yield place(row)
    for _, row in desk.rows("ranges"):
        yield place(row, "start_offset")
        yield place(row, "end_offset")
    for _, row in desk.rows("assignments"):
        yield place(row, "position")
    for _, row in desk.rows("partitions"):
        for column in ("log_start", "last_stable_offset", "high_watermark"):
            if desk.has_column("partitions", column):
                yield place(row, column)


def _elided(
    topic: str, partition: int, slots: dict[Place, Slot], marks: set[int]
) -> Iterator[Slot]:
    """Yield a slot between each two edges that have no entry between them."""
    taken = sorted(at.offset for at in slots)
    ordered = sorted(marks)
    for start, end in pairwise(ordered):
        if not any(start <= offset < end for offset in taken):
            last = end - 1
            note = f"@{start}" if last == start else f"@{start}–{last}"
            yield Slot(place=Place(topic, partition, start), lines=("⋯", note), look=Look.ELIDED)


def _unknown(topic: str, partition: int, marks: set[int]) -> Slot:
    """Return a placeholder for a log of which only edges are known."""
    return Slot(place=Place(topic, partition, min(marks) - 1), lines=("⋯",), look=Look.ELIDED)


def _policy(desk: DrawingContext, topic: str, partition: int) -> str:
    for _, row in desk.rows("partitions"):
        if (row["topic"], row["partition"]) == (topic, partition):
            return ", compacted" if "compact" in str(row["cleanup_policy"]) else ""
    return ""


def _offset(slot: Slot) -> int:
    return number(slot.place.offset)
