"""What a reader of one view of a sink sees of one topic, and what there should be.

Effects are counted in groups, of a record or of one position of it, and
within a group in slots, one for each effect key.
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
    """One effect key of one group: how many effects there may be, must be, and are."""

    record: str
    place: Position | None
    effect_key: str
    expected: int
    due: int
    seen: int
    known: bool
    """The transformation yields this key."""


class Stretch(Past):
    """A history with one topic and one view of a sink in view."""

    def __init__(self, rows: Rows, trial: Trial) -> None:
        super().__init__(rows, trial.topic)
        self.trial = trial
        self.name = (trial.sink, trial.view)
        self.contributions = [c for c in rows["contributions"] if c["sink"] == trial.sink]
        self.by_state = bool(self.contributions) and trial.view != "journal"
        """Single inputs leave no trace in the sink; only its state is judged."""
        stated = [x for x in rows["expected"] if x["sink"] == trial.sink]
        self.stated = [] if self.by_state else stated
        self.effects = [*self._seen(trial.sink), *self._letters()]

    # What is seen.

    def _seen(self, sink: str) -> list[Row]:
        here = {s["record"] for s in self.sends} | {e["record"] for e in self.entries}
        found = []
        for e in self._journal(sink) if self.trial.view == "journal" else self._effects(sink):
            if e["record"] is None or e["source_topic"] not in (None, self.topic):
                continue
            if e["source_topic"] is None and e["record"] in self.sent_anywhere - here:
                continue
            found.append(e)
        return found

    def _effects(self, sink: str) -> list[Row]:
        rows = self.rows["effects"]
        return [e for e in rows if (e["sink"], e["view"]) == (sink, self.trial.view)]

    def _journal(self, sink: str) -> list[Row]:
        """Each append is an effect, and so is an upsert that is not a repetition.

        It is one if the same input has left the same content there before, and it was not deleted
        since by another transaction. One whose content is not known is never said to be a
        repetition.
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
        """Where a reader could see last that it was gone."""
        gone = [
            d["ordinal"]
            for d in self.rows["journal"]
            if d["operation"] == "delete"
            and all(d[name] == change[name] for name in ("sink", "record", "effect_key"))
            and d["ordinal"] < change["ordinal"]
            and (None in (d["transaction"], change["transaction"])
                 or d["transaction"] != change["transaction"])
        ]  # fmt: skip
        return max(gone, default=None)

    def _letters(self) -> list[Row]:
        if self.trial.dead_letters is None:
            return []
        return [{**e, "effect_key": LETTER} for e in self._seen(self.trial.dead_letters)]

    @cached_property
    def by_position(self) -> bool:
        """Every effect says where it comes from, and each position counts."""
        named = [source(e) is not None for e in self.effects]
        return bool(named) and all(named) and not self.trial.deduplicates

    def inputs(self, effect: Row) -> list[Row]:
        """The committed entry that an effect comes from, if that is known."""
        entries = [c for c in self.committed if c["record"] == effect["record"]]
        if source(effect) is not None:
            return [c for c in entries if (c["partition"], c["offset"]) == source(effect)]
        return entries if len(entries) == 1 and self.all_known(effect["record"]) else []

    # What there should be.

    def yields(self, record: str) -> list[Row]:
        """What one position of a record must come to."""
        if self.by_state:
            return []
        if not self.stated:
            return [{"effect_key": "", "digest": None, "optional": False}]
        return [x for x in self.stated if x["record"] == record]

    @cached_property
    def slots(self) -> list[Slot]:
        """Expected and seen side by side."""
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
        """The group of an effect, beside its record."""
        return source(effect) if self.by_position else None

    def _slots(self, record: str, place: Position | None, entries: list[Row]) -> list[Slot]:
        positions = self.times(entries)
        readable = self.times(
            self._without_copies([e for e in entries if self.readable(e["partition"], e["offset"])])
        )
        effects = [e for e in self.effects if (e["record"], self.place(e)) == (record, place)]
        return self.compared(record, place, positions, readable, effects)

    def _without_copies(self, entries: list[Row]) -> list[Row]:
        """The same, with one of all that its producer wrote of one send."""
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
        """How often a record counts that is there."""
        return min(1, len(entries)) if self.trial.deduplicates else len(entries)

    def compared(
        self,
        record: str,
        place: Position | None,
        positions: int,
        readable: int,
        effects: list[Row],
    ) -> list[Slot]:
        """The slots of a group that stands at so many positions."""
        seen = Counter(e["effect_key"] for e in effects)
        letters = seen[LETTER]
        rows = self.yields(record)
        n = Counter(x["effect_key"] for x in rows)
        certain = Counter(x["effect_key"] for x in rows if not x["optional"])
        made = []
        for key in {*n, *seen} - {LETTER}:
            expected = n[key] * max(0, positions - letters)
            due = certain[key] * max(0, readable - letters)
            made.append(
                Slot(record=record, place=place, effect_key=key, expected=expected, due=due,
                     seen=seen[key], known=key in n)
            )  # fmt: skip
        if letters:
            made.append(
                Slot(record=record, place=place, effect_key=LETTER, expected=positions, due=0,
                     seen=letters, known=True)
            )  # fmt: skip
        return made

    def final(self, record: str) -> bool:
        """Whether no further position of the record could change what is expected."""
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
    """The position that an effect names itself."""
    parts = tuple(effect[name] for name in SOURCE)
    return None if None in parts else parts[1:]
