"""Look up log entries by record or position, each with the marker that ended its transaction."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.reports.assembly.tables import History, rows_where, short, short_or_none, table
from onceproof.reports.model_story import Entry, Marker

Place = tuple[str, int, int]
"""Topic, partition, offset."""
_PLACE = re.compile(r"(.+)-(\d{1,9})@(\d{1,18})", re.DOTALL)
_Writer = tuple[str, int, int]


class Entries:
    """The log entries of given records, and those at given positions."""

    def __init__(
        self, history: History, records: Collection[str], positions: Iterable[str]
    ) -> None:
        named = rows_where(history, "log", "record", records)
        places = {place for text in positions if (place := place_of(text))}
        placed = _at(history, places)
        self._by_record: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in named:
            self._by_record[row["record"]].append(row)
        self._by_place = {(r["topic"], r["partition"], r["offset"]): r for r in placed}
        self._markers = _markers(history, [*named, *placed])

    def of_record(self, record: str) -> list[dict[str, Any]]:
        """Return the rows of `log` with the record's identity."""
        return self._by_record.get(record, [])

    def at(self, position: str) -> Entry | None:
        """Return the entry at `topic-partition@offset`; None if that is no place in a known log."""
        place = place_of(position)
        row = self._by_place.get(place) if place else None
        return self.entry_of(row) if row else None

    def entry_of(self, row: Mapping[str, Any]) -> Entry:
        return Entry(
            topic=short(row["topic"]),
            partition=row["partition"],
            offset=row["offset"],
            committed=bool(row["committed"]),
            attempt=short_or_none(row["attempt"]),
            producer_id=row["producer_id"],
            epoch=row["epoch"],
            sequence=row["sequence"],
            ended_by=self._ended_by(row),
        )

    def _ended_by(self, row: Mapping[str, Any]) -> Marker | None:
        offsets, markers = self._markers.get(_writer(row), ((), ()))
        place = bisect_right(offsets, row["offset"])
        if place == len(offsets):
            return None
        found = markers[place]
        return Marker(kind=short(found["kind"]), offset=found["offset"], epoch=found["epoch"])


def place_of(position: str) -> Place | None:
    """Parse `topic-partition@offset`; None if it has another form."""
    found = _PLACE.fullmatch(position)
    return (found[1], int(found[2]), int(found[3])) if found else None


def _at(history: History, places: Collection[Place]) -> list[dict[str, Any]]:
    if not places:
        return []
    log = table(history, "log")
    topics = pa.array(sorted({topic for topic, _, _ in places}), pa.string())
    offsets = pa.array(sorted({offset for _, _, offset in places}), pa.int64())
    mask = pc.and_(
        pc.is_in(log["topic"], value_set=topics), pc.is_in(log["offset"], value_set=offsets)
    )
    found = log.filter(mask).to_pylist()
    return [row for row in found if (row["topic"], row["partition"], row["offset"]) in places]


def _markers(
    history: History, entries: Iterable[Mapping[str, Any]]
) -> dict[_Writer, tuple[list[int], list[dict[str, Any]]]]:
    """Return the control records of the entries' producers, in the order of their offsets."""
    writers = {_writer(row) for row in entries if (row["producer_id"] or -1) >= 0}
    ids = pa.array(sorted({producer for _, _, producer in writers}), pa.int64())
    log = table(history, "log")
    mask = pc.and_(pc.not_equal(log["kind"], "data"), pc.is_in(log["producer_id"], value_set=ids))
    columns = ["topic", "partition", "offset", "kind", "producer_id", "epoch"]
    grouped: dict[_Writer, list[dict[str, Any]]] = defaultdict(list)
    for row in log.select(columns).filter(mask).to_pylist() if writers else ():
        if (writer := _writer(row)) in writers:
            grouped[writer].append(row)
    for found in grouped.values():
        found.sort(key=lambda row: row["offset"])
    return {writer: ([r["offset"] for r in found], found) for writer, found in grouped.items()}


def _writer(row: Mapping[str, Any]) -> _Writer:
    producer = row["producer_id"]
    return row["topic"], row["partition"], -1 if producer is None else producer
