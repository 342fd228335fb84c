"""The way of single records through the history: sent, in the input log, in the sink.

The one thing to know: the large tables are filtered once for all records that a report shows;
nothing here grows with the size of the run except that filter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from reports.assembly.tables import Clock, History, rows_where, short, short_or_none
from reports.model import Effect, Entry, Path, Send

LIST_LIMIT = 12
Place = tuple[str, str | None]
"""A sink, and one view of it or all (None)."""


class Paths:
    """The ways of the records that were asked for, looked up at once."""

    def __init__(
        self, history: History, clock: Clock, records: Collection[str], inputs: Collection[str]
    ) -> None:
        self._clock = clock
        self._sends = _by_record(rows_where(history, "sends", "record", records))
        self._effects = _by_record(rows_where(history, "effects", "record", records))
        self._log = _by_record(
            row
            for row in rows_where(history, "log", "record", records)
            if not inputs or row["topic"] in inputs
        )

    def attempts(self, record: str) -> list[dict[str, Any]]:
        """The rows of `sends` of one record, in the order of the calls."""
        return self._sends.get(record, [])

    def path(self, record: str, places: Collection[Place]) -> Path | None:
        """The way of one record, with its effects in the given places only."""
        sends, entries = self._sends.get(record, []), self._log.get(record, [])
        effects = [row for row in self._effects.get(record, []) if _stands_in(row, places)]
        if not (sends or entries or effects):
            return None
        entries = sorted(entries, key=lambda r: (not r["committed"], r["partition"], r["offset"]))
        effects = sorted(effects, key=lambda r: (r["sink"], r["view"], r["ordinal"] or 0))
        return Path(
            record=short(record),
            sends=tuple(self._send(row) for row in sends[:LIST_LIMIT]),
            sends_count=len(sends),
            entries=tuple(_entry(row) for row in entries[:LIST_LIMIT]),
            entries_count=len(entries),
            effects=tuple(_effect(row) for row in effects[:LIST_LIMIT]),
            effects_count=len(effects),
            sinks=tuple(dict.fromkeys(short(sink) for sink, _ in places)),
        )

    def _send(self, row: dict[str, Any]) -> Send:
        return Send(
            attempt=short(row["attempt"] or ""),
            session=short(row["session"] or ""),
            outcome=row["outcome"] or "info",
            called_at=self._clock.seconds(row["called_at"], row["clock"]),
            topic=short(row["topic"] or ""),
            partition=row["partition"],
            offset=row["offset"],
            error=short_or_none(row["error"]),
        )


def records_of_attempts(history: History, attempts: Collection[str]) -> dict[str, str]:
    """Which record each attempt sent."""
    found = rows_where(history, "sends", "attempt", attempts)
    return {row["attempt"]: row["record"] for row in found}


def _by_record(found: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in found:
        grouped[row["record"]].append(row)
    return grouped


def _stands_in(row: dict[str, Any], places: Collection[Place]) -> bool:
    return any(row["sink"] == sink and view in (None, row["view"]) for sink, view in places)


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(
        topic=short(row["topic"]),
        partition=row["partition"],
        offset=row["offset"],
        committed=bool(row["committed"]),
    )


def _effect(row: dict[str, Any]) -> Effect:
    return Effect(
        sink=short(row["sink"]),
        view=short(row["view"] or ""),
        effect_key=short(row["effect_key"] or ""),
        position=short(row["position"] or ""),
        batch=row["batch"],
    )
