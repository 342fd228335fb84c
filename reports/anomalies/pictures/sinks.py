"""Draw the sink: what must be in it, what is, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from onceproof.checkers.model import Row
from onceproof.reports.anomalies.pictures import absent
from onceproof.reports.anomalies.pictures.desk import DrawingContext, number
from onceproof.reports.anomalies.scene import Line, Panel, Ref

_ADDS: Final = {
    "sum": "adds {amount} to {key} {aggregate}",
    "count": "counts for {key} {aggregate}",
    "min": "offers {amount} for {key} {aggregate}",
    "max": "offers {amount} for {key} {aggregate}",
    "last": "sets {key} {aggregate} to {digest}",
}


def panels(desk: DrawingContext) -> Iterator[Panel]:
    if adds := tuple(_contribution(desk, ref, row) for ref, row in desk.rows("contributions")):
        yield Panel(title="contribution of each input to the state", items=adds)
    if expected := tuple(_expected(desk, ref, row) for ref, row in desk.rows("expected")):
        yield Panel(title="expected effects of each input", items=expected)
    missing = tuple(absent.effects(desk))
    found = sorted(
        desk.rows("effects"),
        key=lambda r: (str(r[1]["sink"]), str(r[1]["view"]), number(r[1]["ordinal"])),
    )
    for (sink, view), rows in groupby(found, key=lambda r: (r[1]["sink"], r[1]["view"])):
        lines = tuple(_effect(desk, ref, row) for ref, row in rows)
        ghosts = missing if (sink, view) == (desk.trial.sink, desk.trial.view) else ()
        yield Panel(title=f"{desk.name(sink)} ({desk.name(view)})", items=(*lines, *ghosts))
        missing = () if ghosts else missing
    if missing:
        title = f"{desk.name(desk.trial.sink)} ({desk.name(desk.trial.view)})"
        yield Panel(title=title, items=missing)
    changes = sorted(
        desk.rows("journal"), key=lambda r: (str(r[1]["sink"]), number(r[1]["ordinal"]))
    )
    for sink, rows in groupby(changes, key=lambda r: r[1]["sink"]):
        lines = tuple(_change(desk, ref, row) for ref, row in rows)
        yield Panel(title=f"changes of {desk.name(sink)}, as readers saw them", items=lines)
    if states := tuple(_states(desk)):
        yield Panel(title=f"state of {desk.name(desk.trial.sink)}", items=states)


def _effect(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    record = "unknown record" if row["record"] is None else desk.name(row["record"])
    key = f", key {desk.name(row['effect_key'])}" if row["effect_key"] else ""
    return Line(
        label=f"{desk.name(row['position'])}: {record}{key}"
        f"{desk.extras('effects', row, 'digest', 'batch', 'instance')}",
        word=_expected_digest(desk, row) if desk.wrong("effects", row) else "",
        wires=desk.source(row),
        wrong=desk.wrong("effects", row),
        refs=(ref,),
    )


def _expected_digest(desk: DrawingContext, row: Row) -> str:
    """Return the effect's required digest, if the witness has it."""
    for found in desk.witness.rows:
        wanted = found.get("expected_digest")
        if found.get("position") == row["position"] and wanted is not None:
            return f"expected {desk.name(wanted)}"
    return ""


def _change(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    record = "unknown record" if row["record"] is None else desk.name(row["record"])
    key = f", key {desk.name(row['effect_key'])}" if row["effect_key"] else ""
    return Line(
        label=f"{row['operation']} {record}{key}"
        f"{desk.extras('journal', row, 'digest', 'batch', 'transaction')}",
        wires=desk.source(row),
        wrong=desk.wrong("journal", row),
        refs=(ref,),
    )


def _expected(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    key = f", key {desk.name(row['effect_key'])}" if row["effect_key"] else ""
    digest = (
        f" {desk.name(row['digest'])}" if desk.has_column("expected", "digest") else " one effect"
    )
    optional = ", or nothing" if row["optional"] else ""
    return Line(label=f"{desk.name(row['record'])} →{digest}{key}{optional}", refs=(ref,))


def _contribution(desk: DrawingContext, ref: Ref, row: Row) -> Line:
    deletes = row["operation"] == "last" and row["digest"] is None
    template = (
        "deletes {key} {aggregate}" if deletes else _ADDS.get(str(row["operation"]), "{amount}")
    )
    change = template.format(
        amount=row["amount"],
        key=desk.name(row["state_key"]),
        aggregate=desk.name(row["aggregate"]),
        digest=desk.name(row["digest"]),
    )
    return Line(
        label=f"{desk.name(row['record'])} {change}",
        wires=desk.places_of_record(row["record"]),
        refs=(ref,),
    )


def _states(desk: DrawingContext) -> Iterator[Line]:
    differing = list(absent.states(desk))
    for ref, row in desk.rows("state"):
        wrong = desk.wrong("state", row)
        value = row["digest"] if row["amount"] is None else row["amount"]
        expected = [d.expected for d in differing if d.present and d.names(row)]
        yield Line(
            label=f"{desk.name(row['state_key'])} {desk.name(row['aggregate'])} = "
            f"{desk.name(value)}",
            word=", ".join(expected),
            wrong=wrong,
            refs=(ref,),
        )
    for differs in differing:
        if not differs.present:
            found = differs.witness
            yield Line(
                label=f"{desk.name(found['state_key'])} {desk.name(found['aggregate'])} is missing",
                word=differs.expected,
                wrong=True,
                ghost=True,
            )
