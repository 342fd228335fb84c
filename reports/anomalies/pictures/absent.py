"""Draw what is missing, as a finding's witness says and without computing it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from onceproof.checkers.model import Row
from onceproof.reports.anomalies.pictures.desk import DrawingContext, number
from onceproof.reports.anomalies.scene import Edge, Line, Place


@dataclass(frozen=True, kw_only=True)
class DifferingState:
    """A state that differs: the witness row, the required value, and whether the state exists."""

    witness: Row
    expected: str
    present: bool

    def names(self, row: Row) -> bool:
        columns = ("sink", "view", "state_key", "aggregate")
        return all(self.witness.get(column) == row[column] for column in columns)


def send_status(desk: DrawingContext, send: Row) -> str:
    if desk.trial.anomaly == "lost-write" and desk.wrong("sends", send):
        return "lost"
    return states_of_units(desk, "send", send)


def states_of_units(desk: DrawingContext, what: str, row: Row) -> str:
    """Return the witness's state of a send or offset in a torn transaction."""
    name = row["attempt"] if what == "send" else row["owner"]
    for found in desk.witness.rows:
        if (
            found.get("what") == what
            and found.get("name") == name
            and found.get("state") is not None
        ):
            same = what == "send" or found.get("offset") == row["offset"]
            if same:
                return str(found["state"])
    return ""


def effects(desk: DrawingContext) -> Iterator[Line]:
    if desk.trial.anomaly not in ("lost-output", "offset-ahead", "torn-output"):
        return
    for row in desk.witness.rows:
        key = row.get("effect_key")
        kind = f", key {desk.name(key)}" if key else ""
        yield Line(
            label=f"{desk.name(row['record'])}{kind}:",
            word="missing",
            wires=_place(row),
            wrong=True,
            ghost=True,
        )


def gaps(desk: DrawingContext) -> Iterator[Line]:
    """Yield a line where the ranges of micro-batches leave a gap or overlap."""
    if desk.trial.anomaly != "offset-gap":
        return
    for row in desk.witness.rows:
        log = str(row["topic"]), number(row["partition"])
        ends = sorted((number(row["reached"]), number(row["start_offset"])))
        start, end = (Edge(Place(*log, offset)) for offset in ends)
        gap = row["kind"] == "gap"
        yield Line(
            label="in no batch" if gap else "in two batches",
            span=(start, end),
            wrong=True,
            ghost=gap,
        )


def reads(desk: DrawingContext, reader: str, session: str) -> Iterator[tuple[int | None, Line]]:
    """Yield missed entries: the read before which one belongs (None: never read), and its line."""
    if desk.trial.anomaly not in ("skipped-read", "unseen"):
        return
    for row in desk.witness.rows:
        if (str(row.get("reader")), str(row.get("session"))) == (reader, session):
            skipped = desk.trial.anomaly == "skipped-read"
            record = row.get("record")
            yield (
                number(row["ordinal"]) if skipped else None,
                Line(
                    label=desk.name(record) if record is not None else f"@{row['offset']}",
                    word="skipped" if skipped else "never read",
                    wires=_place(row),
                    wrong=True,
                    ghost=True,
                ),
            )


def states(desk: DrawingContext) -> Iterator[DifferingState]:
    """Yield the states that differ from the required ones."""
    if desk.trial.anomaly != "state-mismatch":
        return
    known = [row for _, row in desk.rows("state")]
    for found in desk.witness.rows:
        wanted = [found.get(column) for column in ("expected_amount", "expected_digest")]
        value = next((value for value in wanted if value is not None), None)
        expected = "expected none" if value is None else f"expected {desk.name(value)}"
        differs = DifferingState(witness=found, expected=expected, present=False)
        yield replace(differs, present=any(differs.names(row) for row in known))


def _place(row: Row) -> tuple[Place, ...]:
    topic, partition, offset = (row.get(c) for c in ("topic", "partition", "offset"))
    if partition is None or offset is None:
        return ()
    return (Place(str(topic), number(partition), number(offset)),)
