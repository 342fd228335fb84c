"""lost-, duplicate-, unfounded-, phantom-, wrong- and torn-output: effects against what is due."""

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
                here = entry["record"] == slot.record and slot.place in (None, place)
                if here and s.readable(*place):
                    row = {**entry, "expected": slot.due, "seen": slot.seen}
                    yield Hit((*s.name, slot.record, slot.effect_key), row)


def duplicate_output(s: Stretch) -> Iterator[Hit]:
    """An effect may be too much in two ways, and is told once for each."""
    told = set()
    for slot, effects in [*_too_many(s), *_at_one_place(s)]:
        for e in effects:
            key = (*s.name, slot.record, slot.effect_key)
            row = {**e, "expected": slot.expected, "seen": slot.seen}
            came_from = [source(e)] if source(e) else [_place(i) for i in s.inputs(e)]
            told_of = (e["effect_key"], e["position"], e["ordinal"], *came_from)
            what = (key, slot.expected, slot.seen, told_of)
            if what not in told:
                told.add(what)
                yield Hit(key, row)


def _too_many(s: Stretch) -> Iterator[tuple[Slot, list[Row]]]:
    for slot in s.slots:
        if too_much(slot) and _stands(s, slot) and s.final(slot.record):
            yield slot, [*_in(s, slot), *_letters_beside(s, slot)]


def _letters_beside(s: Stretch, slot: Slot) -> list[Row]:
    """The dead letters that stand where the slot's effects should be alone."""
    if slot.effect_key == LETTER:
        return []
    mine = (slot.record, LETTER, slot.place)
    return [e for e in s.effects if (e["record"], e["effect_key"], s.place(e)) == mine]


def _at_one_place(s: Stretch) -> Iterator[tuple[Slot, list[Row]]]:
    """Effects that name the same position prove themselves, whatever else is known."""
    for record, place in {(e["record"], source(e)) for e in s.effects if source(e) is not None}:
        assert place is not None
        there = [
            e
            for e in s.rows["log"]
            if e["topic"] == s.topic and (e["partition"], e["offset"]) == place
        ]
        if there:
            right = there[0]["record"] == record and there[0]["committed"]
            proof = right and there[0]["kind"] == "data" and not s.by_position
        else:
            proof = not s.complete or not s.readable(*place)
        effects = [e for e in s.effects if (e["record"], source(e)) == (record, place)]
        for slot in s.compared(record, place, 1, 1, effects):
            if proof and too_much(slot):
                yield slot, [e for e in effects if e["effect_key"] in (slot.effect_key, LETTER)]


def too_much(slot: Slot) -> bool:
    return slot.known and slot.seen > slot.expected


def _stands(s: Stretch, slot: Slot) -> bool:
    """Whether the group has a committed position."""
    return any(
        e["record"] == slot.record and slot.place in (None, (e["partition"], e["offset"]))
        for e in s.committed
    )


def _in(s: Stretch, slot: Slot) -> list[Row]:
    mine = (slot.record, slot.effect_key, slot.place)
    return [e for e in s.effects if (e["record"], e["effect_key"], s.place(e)) == mine]


def unfounded_output(s: Stretch) -> Iterator[Hit]:
    known = s.sent_anywhere | {e["record"] for e in s.entries}
    for e in s.effects:
        place = source(e)
        stands = any(
            c["record"] == e["record"] and place in (None, (c["partition"], c["offset"]))
            for c in s.committed
        )
        decidable = not s.cut if place is None else s.readable(*place)
        if e["record"] in known and not stands and decidable:
            yield Hit((*s.name, e["record"], e["effect_key"]), e)


def phantom_output(s: Stretch) -> Iterator[Hit]:
    known = s.sent_anywhere | {e["record"] for e in s.entries}
    for e in s.effects:
        if e["record"] not in known and (s.sends or s.complete):
            yield Hit((*s.name, e["record"], e["effect_key"]), e)


def wrong_output(s: Stretch) -> Iterator[Hit]:
    if not s.stated:
        return
    corrupt = {e["record"] for e in s.entries if is_corrupt(s, e)}
    stand = {e["record"] for e in s.committed}
    sent = s.sent_anywhere if s.sends else stand
    judged = (stand & sent) - corrupt
    for e in s.effects:
        if e["effect_key"] == LETTER or e["record"] not in judged:
            continue
        right = [x["digest"] for x in s.yields(e["record"]) if x["effect_key"] == e["effect_key"]]
        if not right or (e["digest"] is not None and e["digest"] not in right):
            yield Hit((*s.name, e["record"], e["effect_key"]), e)
    for slot in s.slots:
        if slot.record in judged and slot.known and slot.effect_key != LETTER:
            yield from _too_often(s, slot)


def _too_often(s: Stretch, slot: Slot) -> Iterator[Hit]:
    """Right content, but the same one where it should be another."""
    right = Counter(
        x["digest"] for x in s.yields(slot.record) if x["effect_key"] == slot.effect_key
    )
    if len(right) < 2 or too_much(slot) or not s.final(slot.record):
        return
    entries = [
        e
        for e in s.committed
        if e["record"] == slot.record and slot.place in (None, (e["partition"], e["offset"]))
    ]
    effects = _in(s, slot)
    for digest, n in right.items():
        same = [e for e in effects if e["digest"] == digest]
        if len(same) > n * s.times(entries):
            for e in same:
                yield Hit((*s.name, slot.record, slot.effect_key), e)


def torn_output(s: Stretch) -> Iterator[Hit]:
    """Of every two outputs that are claimed to be atomic one may have what the other lacks."""
    others = (replace(s.trial, sink=sink, view=view) for sink, view in s.trial.others)
    for one, other in permutations([s, *(Stretch(s.rows, trial) for trial in others)], 2):
        for entry in s.committed:
            surely = s.readable(*_place(entry)) and entry["lateness"] is None
            here, there = (_live(each, entry["record"]) for each in (one, other))
            if surely and here and not there and other.yields(entry["record"]):
                row = {**entry, "present_sink": one.trial.sink, "missing_sink": other.trial.sink}
                yield Hit((*s.name, entry["record"]), {**row, "seen": here})


def _live(s: Stretch, record: str) -> int:
    """How many effects a record has that are no dead letters."""
    return sum(e["record"] == record and e["effect_key"] != LETTER for e in s.effects)


def _place(entry: Row) -> tuple[int, int]:
    return (entry["partition"], entry["offset"])
