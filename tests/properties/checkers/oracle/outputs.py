"""lost-, duplicate-, unfounded-, phantom-, wrong- and torn-output: effects against expectations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.stretch import LETTER, Slot, Stretch, source
from tests.properties.checkers.oracle.writes import is_corrupt
from tests.properties.checkers.world.rows import Row


def lost_output(s: Stretch) -> Iterator[Hit]:
    for slot in s.slots:
        if slot.seen < slot.due:
            for entry in s.committed:
                place = (entry["partition"], entry["offset"])
                in_slot = entry["record"] == slot.record and slot.place in (None, place)
                if in_slot and s.readable(*place) and entry["lateness"] is None:
                    row = {**entry, "expected": slot.due, "seen": slot.seen}
                    yield Hit((*s.name, slot.record, slot.effect_key), row)


def duplicate_output(s: Stretch) -> Iterator[Hit]:
    """An effect may be in excess for two reasons and is reported once for each."""
    reported = set()
    for slot, effects in [*_in_excess(s), *_same_source(s)]:
        for e in effects:
            key = (*s.name, slot.record, slot.effect_key)
            row = {**e, "expected": slot.expected, "seen": slot.seen}
            sources = [source(e)] if source(e) else [_place(i) for i in s.inputs(e)]
            effect_identity = (e["effect_key"], e["position"], e["ordinal"], *sources)
            identity = (key, slot.expected, slot.seen, effect_identity)
            if identity not in reported:
                reported.add(identity)
                yield Hit(key, row)


def _in_excess(s: Stretch) -> Iterator[tuple[Slot, list[Row]]]:
    for slot in s.slots:
        if is_excessive(slot) and _has_committed_entry(s, slot) and s.final(slot.record):
            yield slot, [*_in(s, slot), *_dead_letters_for(s, slot)]


def _dead_letters_for(s: Stretch, slot: Slot) -> list[Row]:
    """Dead letters at a position whose only effects should be those of the slot."""
    if slot.effect_key == LETTER:
        return []
    group = (slot.record, LETTER, slot.place)
    return [e for e in s.effects if (e["record"], e["effect_key"], s.place(e)) == group]


def _same_source(s: Stretch) -> Iterator[tuple[Slot, list[Row]]]:
    """Several effects of one source position are duplicates whatever else is known."""
    for record, place in {(e["record"], source(e)) for e in s.effects if source(e) is not None}:
        assert place is not None
        entries = [
            e
            for e in s.rows["log"]
            if e["topic"] == s.topic and (e["partition"], e["offset"]) == place
        ]
        if entries:
            is_valid = entries[0]["record"] == record and entries[0]["committed"]
            proof = is_valid and entries[0]["kind"] == "data" and not s.by_position
        else:
            proof = not s.complete or not s.readable(*place)
        effects = [e for e in s.effects if (e["record"], source(e)) == (record, place)]
        for slot in s.compared(record, place, 1, 1, effects):
            if proof and is_excessive(slot):
                yield slot, [e for e in effects if e["effect_key"] in (slot.effect_key, LETTER)]


def is_excessive(slot: Slot) -> bool:
    return slot.known and slot.seen > slot.expected


def _has_committed_entry(s: Stretch, slot: Slot) -> bool:
    """Whether the group has a committed entry."""
    return any(
        e["record"] == slot.record and slot.place in (None, (e["partition"], e["offset"]))
        for e in s.committed
    )


def _in(s: Stretch, slot: Slot) -> list[Row]:
    group = (slot.record, slot.effect_key, slot.place)
    return [e for e in s.effects if (e["record"], e["effect_key"], s.place(e)) == group]


def unfounded_output(s: Stretch) -> Iterator[Hit]:
    known = s.sent_anywhere | {e["record"] for e in s.entries}
    for e in s.effects:
        place = source(e)
        has_entry = any(
            c["record"] == e["record"] and place in (None, (c["partition"], c["offset"]))
            for c in s.committed
        )
        decidable = not s.cut if place is None else s.readable(*place)
        if e["record"] in known and not has_entry and decidable:
            yield Hit((*s.name, e["record"], e["effect_key"]), e)


def phantom_output(s: Stretch) -> Iterator[Hit]:
    known = s.sent_anywhere | {e["record"] for e in s.entries}
    for e in s.effects:
        if e["record"] not in known and (s.sends or s.complete):
            yield Hit((*s.name, e["record"], e["effect_key"]), e)


def wrong_output(s: Stretch) -> Iterator[Hit]:
    if not s.stated_effects:
        return
    corrupt = {e["record"] for e in s.entries if is_corrupt(s, e)}
    committed = {e["record"] for e in s.committed}
    sent = s.sent_anywhere if s.sends else committed
    judged = (committed & sent) - corrupt
    for e in s.effects:
        if e["effect_key"] == LETTER or e["record"] not in judged:
            continue
        digests = [x["digest"] for x in s.yields(e["record"]) if x["effect_key"] == e["effect_key"]]
        if not digests or (e["digest"] is not None and e["digest"] not in digests):
            yield Hit((*s.name, e["record"], e["effect_key"]), e)
    for slot in s.slots:
        if slot.record in judged and slot.known and slot.effect_key != LETTER:
            yield from _repeated_content(s, slot)


def _repeated_content(s: Stretch, slot: Slot) -> Iterator[Hit]:
    """An expected content appears more often than expected, instead of another."""
    expected = Counter(
        x["digest"] for x in s.yields(slot.record) if x["effect_key"] == slot.effect_key
    )
    if len(expected) < 2 or is_excessive(slot) or not s.final(slot.record):
        return
    entries = [
        e
        for e in s.committed
        if e["record"] == slot.record and slot.place in (None, (e["partition"], e["offset"]))
    ]
    effects = _in(s, slot)
    for digest, n in expected.items():
        same = [e for e in effects if e["digest"] == digest]
        if len(same) > n * s.times(entries):
            for e in same:
                yield Hit((*s.name, slot.record, slot.effect_key), e)


def torn_output(s: Stretch) -> Iterator[Hit]:
    """An input has effects in one of two atomic outputs and none in the other."""
    others = (replace(s.trial, sink=sink, view=view) for sink, view in s.trial.others)
    for one, other in permutations([s, *(Stretch(s.rows, trial) for trial in others)], 2):
        for entry in s.committed:
            certain = s.readable(*_place(entry)) and entry["lateness"] is None
            present, counterpart = (_effect_count(each, entry["record"]) for each in (one, other))
            if certain and present and not counterpart and other.yields(entry["record"]):
                row = {**entry, "present_sink": one.trial.sink, "missing_sink": other.trial.sink}
                yield Hit((*s.name, entry["record"]), {**row, "seen": present})


def _effect_count(s: Stretch, record: str) -> int:
    """The number of a record's effects, without dead letters."""
    return sum(e["record"] == record and e["effect_key"] != LETTER for e in s.effects)


def _place(entry: Row) -> tuple[int, int]:
    return (entry["partition"], entry["offset"])
