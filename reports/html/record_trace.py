"""The path of a finding's record, step by step: sent, logged, processed, written, read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from onceproof.reports.html.names import name
from onceproof.reports.model import Finding
from onceproof.reports.model_story import (
    Effect,
    Entry,
    Execution,
    Marker,
    PassedPosition,
    Path,
    Reading,
    Send,
    Transaction,
)
from onceproof.reports.text import number, seconds, visible

_OUTCOMES = {
    "ok": "acknowledged",
    "fail": "rejected, not written",
    "info": "outcome unknown",
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step; `at` is empty if the time is unknown."""

    kind: str
    at: str
    words: Markup


def trace(path: Path) -> tuple[Step, ...]:
    """Return every known step of a record's path, in order."""
    return tuple(_steps(path))


def _steps(path: Path) -> Iterator[Step]:
    for send in path.sends:
        yield Step(kind="sent", at=_at(send.called_at), words=_send(send))
    yield from _more("sent", path.sends_count - len(path.sends), "attempt")
    for entry in path.entries:
        yield Step(kind="in the log", at="", words=_entry(entry))
    yield from _more("in the log", path.entries_count - len(path.entries), "entry", "entries")
    for execution in path.executions:
        yield Step(kind="processed", at="", words=_execution(execution))
    yield from _more("processed", path.executions_count - len(path.executions), "execution")
    for passing in path.passings:
        yield Step(kind="passed", at=_at(passing.at), words=_passing(passing))
    yield from _more("passed", path.passings_count - len(path.passings), "position")
    for effect in path.effects:
        yield Step(kind="written", at=_at(effect.at), words=_effect(effect))
    yield from _more("written", path.effects_count - len(path.effects), "effect")
    for reading in path.readings:
        yield Step(kind="read", at=_at(reading.at), words=_reading(reading))
    yield from _more("read", path.readings_count - len(path.readings), "reading")


def transactions(finding: Finding) -> tuple[Markup, ...]:
    """Return the transactions that a finding's witness names, each as a sentence."""
    return tuple(_transaction(txn) + "." for txn in finding.transactions)


def stamped(entry: Entry) -> str:
    """Return the writer as `producer id 1000, epoch 1, sequence 0`; empty if unknown."""
    if entry.producer_id is None or entry.producer_id < 0:
        return ""
    parts = [f"producer id {entry.producer_id}"]
    if entry.epoch is not None:
        parts.append(f"epoch {entry.epoch}")
    if entry.sequence is not None:
        parts.append(f"sequence {entry.sequence}")
    return ", ".join(parts)


def _send(send: Send) -> Markup:
    outcome = _OUTCOMES.get(send.outcome, visible(send.outcome))
    back = f" at {seconds(send.returned_at)}" if send.returned_at is not None else ""
    text = Markup("attempt {} by {}, {}{}").format(
        name(send.attempt), name(send.session), outcome, back
    )
    if send.partition is not None and send.offset is not None:
        text += Markup(" as {}").format(name(f"{send.topic}-{send.partition}@{send.offset}"))
    if send.transaction is not None:
        text += Markup("; {}").format(_transaction(send.transaction))
    if send.error:
        text += Markup("; client error: <q>{}</q>").format(visible(send.error))
    return text + "."


def _transaction(txn: Transaction) -> Markup:
    outcome = "outcome unknown" if txn.outcome == "info" else visible(txn.outcome)
    times = [
        f"{what} {seconds(at)}"
        for what, at in (
            ("begun", txn.began_at),
            ("commit called", txn.commit_called_at),
            ("ended", txn.ended_at),
        )
        if at is not None
    ]
    text = Markup("transaction {} of transactional id {}: {} ({})").format(
        name(txn.txn), name(txn.transactional_id), outcome, ", ".join(times) or "times unknown"
    )
    return text + (
        Markup("; client error: <q>{}</q>").format(visible(txn.error)) if txn.error else ""
    )


def _entry(entry: Entry) -> Markup:
    text = Markup("{}, {}").format(
        name(f"{entry.topic}-{entry.partition}@{entry.offset}"),
        "committed" if entry.committed else "not committed",
    )
    return text + _written_by(entry) + "."


def _written_by(entry: Entry) -> Markup:
    text = Markup("")
    if by := stamped(entry):
        text += Markup(", by {}").format(by)
    if entry.ended_by is not None:
        text += Markup(", {}").format(_marker(entry.ended_by))
    return text


def _marker(marker: Marker) -> str:
    epoch = f", epoch {marker.epoch}" if marker.epoch is not None else ""
    kind = visible(marker.kind)
    return f"transaction ended by the {kind} marker at offset {marker.offset}{epoch}"


def _execution(one: Execution) -> Markup:
    committed = "committed" if one.committed else "not committed"
    return Markup("micro-batch {} of query {}, execution {}: {}-{}, offsets {} to {}; {}.").format(
        number(one.batch),
        name(one.owner),
        name(one.execution),
        visible(one.topic),
        one.partition,
        one.start,
        one.end - 1,
        committed,
    )


def _passing(one: PassedPosition) -> Markup:
    batch = f", after micro-batch {number(one.batch)}" if one.batch is not None else ""
    who = Markup(", stored by {}").format(name(one.instance)) if one.instance else Markup("")
    return Markup("the position of {} in {}-{} moved from {} to {}{}{}.").format(
        name(one.owner), visible(one.topic), one.partition, one.start, one.end, batch, who
    )


def _effect(effect: Effect) -> Markup:
    text = Markup("{} in {}").format(name(effect.position), name(effect.sink))
    if effect.view:
        text += Markup(", as seen by {}").format(name(effect.view))
    if effect.effect_key:
        text += Markup(", effect {}").format(name(effect.effect_key))
    if effect.batch is not None:
        text += f", by micro-batch {number(effect.batch)}"
    if effect.owner:
        text += Markup(" of {}").format(name(effect.owner))
    if effect.instance:
        text += Markup(", by {}").format(name(effect.instance))
    if effect.source:
        text += Markup(", from {}").format(name(effect.source))
    return text + (_written_by(effect.entry) if effect.entry else Markup("")) + "."


def _reading(one: Reading) -> Markup:
    return Markup("by {} ({}) at {}.").format(
        name(one.reader), visible(one.isolation), name(f"{one.topic}-{one.partition}@{one.offset}")
    )


def _at(at: float | None) -> str:
    return "" if at is None else seconds(at)


def _more(kind: str, count: int, one: str, many: str | None = None) -> Iterator[Step]:
    if count > 0:
        text = f"{number(count)} more {one if count == 1 else many or one + 's'}."
        yield Step(kind=kind, at="", words=Markup("{}").format(text))
