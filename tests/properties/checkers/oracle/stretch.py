"""One topic and one view of a sink: the effects present and the effects expected.

Effects are counted in groups, of a record or of one of its positions; a group has one slot for
each effect key.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tests.properties.checkers.oracle.past import Past
from tests.properties.checkers.world.rows import Row, Rows
from tests.properties.checkers.world.trial import Trial

LETTER = "~dead-letter"
"""The effect key of a dead letter."""

SOURCE: Final = ("source_topic", "source_partition", "source_offset")
Position = tuple[int, int]
"""A partition and an offset of the topic."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One effect key of one group: effects allowed, required and seen."""

    record: str
    place: Position | None
    effect_key: str
    expected: int
    due: int
    seen: int
    known: bool
    """Whether the transformation yields this key."""


class Stretch(Past):
    """A history restricted to one topic and one view of a sink."""

    def __init__(self, rows: Rows, trial: Trial) -> None:
        super().__init__(rows, trial.topic)
        self.trial = trial
        self.name = (trial.sink, trial.view)
        self.contributions = [c for c in rows["contributions"] if c["sink"] == trial.sink]
        self.by_state = bool(self.contributions) and trial.view != "journal"
        """Single inputs leave no trace in the sink, so that only its state is judged."""
        stated_effects = [x for x in rows["expected"] if x["sink"] == trial.sink]
        self.stated_effects = [] if self.by_state else stated_effects
        self.effects = [*self._seen(trial.sink), *self._letters()]

    # Effects present.

    def _seen(self, sink: str) -> list[Row]:
        topic_records = {s["record"] for s in self.sends} | {e["record"] for e in self.entries}
        found = []
        for e in self._journal(sink) if self.trial.view == "journal" else self._effects(sink):
            if e["record"] is None or e["source_topic"] not in (None, self.topic):
                continue
            if e["source_topic"] is None and e["record"] in self.sent_anywhere - topic_records:
                continue
            found.append(e)
        return found

    def _effects(self, sink: str) -> list[Row]:
        rows = self.rows["effects"]
        return [e for e in rows if (e["sink"], e["view"]) == (sink, self.trial.view)]

    def _journal(self, sink: str) -> list[Row]:
        """Each append is an effect, and so is each upsert that is not a repetition.

        An upsert is a repetition if the same input has left the same content before, and no other
        transaction deleted it in between. An upsert of unknown content is never a repetition.
        """
        found: list[Row] = []
        upserted = set()
        for change in sorted(self.rows["journal"], key=lambda j: int(j["ordinal"])):
            if change["sink"] != sink or change["operation"] == "delete":
                continue
            if change["operation"] == "upsert" and change["digest"] is not None:
                same = ("record", "effect_key", "digest", *SOURCE)
                content = (*(change[name] for name in same), self._last_deleted(change))
                if content in upserted:
                    continue
                upserted.add(content)
            unknown = {"instance": None, "at": None, "clock": None}
            found.append({**change, **unknown, "position": f"journal {change['ordinal']}"})
        return found

    def _last_deleted(self, change: Row) -> int | None:
        """Ordinal of the last delete that was visible to readers."""
        deletes = [
            d["ordinal"]
            for d in self.rows["journal"]
            if d["operation"] == "delete"
            and all(d[name] == change[name] for name in ("sink", "record", "effect_key"))
            and d["ordinal"] < change["ordinal"]
            and (None in (d["transaction"], change["transaction"])
                 or d["transaction"] != change["transaction"])
        ]  # fmt: skip
        return max(deletes, default=None)

    def _letters(self) -> list[Row]:
        if self.trial.dead_letters is None:
            return []
        return [{**e, "effect_key": LETTER} for e in self._seen(self.trial.dead_letters)]

    @cached_property
    def by_position(self) -> bool:
        """Whether every effect names its source and each position counts."""
        named = [source(e) is not None for e in self.effects]
        return bool(named) and all(named) and not self.trial.deduplicates

    def inputs(self, effect: Row) -> list[Row]:
        """The committed entries that an effect comes from, if known."""
        entries = [c for c in self.committed if c["record"] == effect["record"]]
        if source(effect) is not None:
            return [c for c in entries if (c["partition"], c["offset"]) == source(effect)]
        return entries if len(entries) == 1 and self.all_known(effect["record"]) else []

    # Effects expected.

    def yields(self, record: str) -> list[Row]:
        """The effects that one position of a record must have."""
        if self.by_state:
            return []
        if not self.stated_effects:
            return [{"effect_key": "", "digest": None, "optional": False}]
        return [x for x in self.stated_effects if x["record"] == record]

    @cached_property
    def slots(self) -> list[Slot]:
        """Expected and actual effects."""
        groups: dict[tuple[str, Position | None], list[Row]] = defaultdict(list)
        for entry in self.committed:
            place = (entry["partition"], entry["offset"]) if self.by_position else None
            groups[entry["record"], place].append(entry)
        for effect in self.effects:
            groups.setdefault((effect["record"], self.place(effect)), [])
        return [
            slot
            for (record, place), entries in groups.items()
            for slot in self._slots(record, place, entries)
        ]

    def place(self, effect: Row) -> Position | None:
        """The source position that determines the effect's group, if positions are judged."""
        return source(effect) if self.by_position else None

    def _slots(self, record: str, place: Position | None, entries: list[Row]) -> list[Slot]:
        positions = self.times(entries)
        certain = [
            e
            for e in entries
            if self.readable(e["partition"], e["offset"]) and e["lateness"] is None
        ]
        readable = self.times(self._without_copies(certain))
        effects = [e for e in self.effects if (e["record"], self.place(e)) == (record, place)]
        return self.compared(record, place, positions, readable, effects)

    def _without_copies(self, entries: list[Row]) -> list[Row]:
        """The same entries, with only one for each known send."""
        kept: dict[object, Row] = {}
        for e in entries:
            known = any(
                s["attempt"] == e["attempt"]
                and (s["record"], s["topic"]) == (e["record"], e["topic"])
                for s in self.rows["sends"]
            )
            kept.setdefault(e["attempt"] if known else (e["partition"], e["offset"]), e)
        return list(kept.values())

    def times(self, entries: list[Row]) -> int:
        """How often these entries of a record count."""
        return min(1, len(entries)) if self.trial.deduplicates else len(entries)

    def compared(
        self,
        record: str,
        place: Position | None,
        positions: int,
        readable: int,
        effects: list[Row],
    ) -> list[Slot]:
        """The slots of a group with so many positions."""
        seen = Counter(e["effect_key"] for e in effects)
        letters = seen[LETTER]
        rows = self.yields(record)
        n = Counter(x["effect_key"] for x in rows)
        certain = Counter(x["effect_key"] for x in rows if not x["optional"])
        slots = []
        for key in {*n, *seen} - {LETTER}:
            expected = n[key] * max(0, positions - letters)
            due = certain[key] * max(0, readable - letters)
            slots.append(
                Slot(record=record, place=place, effect_key=key, expected=expected, due=due,
                     seen=seen[key], known=key in n)
            )  # fmt: skip
        if letters:
            slots.append(
                Slot(record=record, place=place, effect_key=LETTER, expected=positions, due=0,
                     seen=letters, known=True)
            )  # fmt: skip
        return slots

    def final(self, record: str) -> bool:
        """Whether further positions of the record cannot change what is expected."""
        return self.by_position or self.trial.deduplicates or self.all_known(record)

    def all_known(self, record: str) -> bool:
        """Whether every committed position that the record ever had is in the log."""
        if self.cut:
            return False
        if self.complete:
            return True
        sends = self.sends_of(record)
        collection = self.collection
        return bool(sends) and all(
            collection is not None
            and s["outcome"] == "ok"
            and s["txn"] is None
            and s["returned_at"] is not None
            and s["returned_at"] <= collection["started_at"]
            and s["clock"] == collection["clock"]
            for s in sends
        )


def source(effect: Row) -> Position | None:
    """The source position that an effect names."""
    parts = tuple(effect[name] for name in SOURCE)
    return None if None in parts else parts[1:]
