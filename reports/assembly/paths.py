"""Trace single records through the history: sends, input log, readers, sink.

The large tables are filtered once for all records that a report shows; nothing else here grows with
the size of the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from onceproof.reports.assembly.entries import Entries
from onceproof.reports.assembly.entries import Place as LogPlace
from onceproof.reports.assembly.passings import PassedPositions
from onceproof.reports.assembly.tables import Clock, History, rows_where, short, short_or_none
from onceproof.reports.model_story import (
    Effect,
    Execution,
    PassedPosition,
    Path,
    Reading,
    Send,
    Transaction,
)

LIST_LIMIT = 12
_PLACES_LIMIT = 3
Place = tuple[str, str | None]
"""A sink, and one view of it; None: all views."""


class Paths:
    """The paths of given records."""

    def __init__(
        self, history: History, clock: Clock, records: Collection[str], inputs: Collection[str]
    ) -> None:
        self._clock = clock
        self._inputs = inputs
        self._sends = _by_record(rows_where(history, "sends", "record", records))
        self._effects = _by_record(rows_where(history, "effects", "record", records))
        self._reads = _by_record(rows_where(history, "reads", "record", records))
        positions = {r["position"] for found in self._effects.values() for r in found}
        self._log = Entries(history, records, (p for p in positions if p))
        self._passings = PassedPositions(history, clock)
        txns = {r["txn"] for found in self._sends.values() for r in found if r["txn"]}
        self._txns = transactions(history, clock, txns)

    def attempts(self, record: str) -> list[dict[str, Any]]:
        return self._sends.get(record, [])

    def path(self, record: str, places: Collection[Place]) -> Path | None:
        """Return a record's path, with effects in `places` only; None if nothing is known."""
        sends, reads = self._sends.get(record, []), self._reads.get(record, [])
        entries = [
            row
            for row in self._log.of_record(record)
            if not self._inputs or row["topic"] in self._inputs
        ]
        effects = [row for row in self._effects.get(record, []) if _is_in(row, places)]
        if not (sends or entries or effects):
            return None
        entries = sorted(entries, key=lambda r: (not r["committed"], r["partition"], r["offset"]))
        effects = sorted(effects, key=lambda r: (r["sink"], r["view"], r["ordinal"] or 0))
        reads = sorted(reads, key=lambda r: (r["at"] or 0, r["reader"]))
        logged = [(r["topic"], r["partition"], r["offset"]) for r in entries[:_PLACES_LIMIT]]
        # Processing does not matter to a finding about how a record got into its topic.
        passings, executions = self._processed(logged if places else [])
        return Path(
            record=short(record),
            sends=tuple(self._send(row) for row in sends[:LIST_LIMIT]),
            sends_count=len(sends),
            entries=tuple(self._log.entry_of(row) for row in entries[:LIST_LIMIT]),
            entries_count=len(entries),
            effects=tuple(self._effect(row) for row in effects[:LIST_LIMIT]),
            effects_count=len(effects),
            sinks=tuple(dict.fromkeys(short(sink) for sink, _ in places)),
            passings=tuple(passings[:LIST_LIMIT]),
            passings_count=len(passings),
            executions=tuple(executions[:LIST_LIMIT]),
            executions_count=len(executions),
            readings=tuple(self._reading(row) for row in reads[:LIST_LIMIT]),
            readings_count=len(reads),
        )

    def _processed(
        self, logged: Sequence[LogPlace]
    ) -> tuple[list[PassedPosition], list[Execution]]:
        passings = [passing for place in logged for passing in self._passings.over(place)]
        executions = [one for place in logged for one in self._passings.executions(place)]
        return passings, executions

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
            returned_at=self._clock.seconds(row["returned_at"], row["clock"]),
            transaction=self._txns.get(row["txn"] or ""),
        )

    def _effect(self, row: dict[str, Any]) -> Effect:
        return Effect(
            sink=short(row["sink"]),
            view=short(row["view"] or ""),
            effect_key=short(row["effect_key"] or ""),
            position=short(row["position"] or ""),
            batch=row["batch"],
            at=self._clock.seconds(row["at"], row["clock"]),
            owner=short_or_none(row["owner"]),
            instance=short_or_none(row["instance"]),
            source=_source(row),
            entry=self._log.at(row["position"] or ""),
        )

    def _reading(self, row: dict[str, Any]) -> Reading:
        return Reading(
            reader=short(row["reader"] or ""),
            isolation=short(row["isolation"] or ""),
            topic=short(row["topic"] or ""),
            partition=row["partition"],
            offset=row["offset"],
            at=self._clock.seconds(row["at"], row["clock"]),
        )


def transactions(history: History, clock: Clock, names: Collection[str]) -> dict[str, Transaction]:
    """Return those of the names that are transactions of applications, by name."""
    return {
        row["txn"]: Transaction(
            txn=short(row["txn"]),
            transactional_id=short(row["transactional_id"] or ""),
            outcome=short(row["outcome"] or "info"),
            began_at=clock.seconds(row["began_at"], row["clock"]),
            commit_called_at=clock.seconds(row["commit_called_at"], row["clock"]),
            ended_at=clock.seconds(row["ended_at"], row["clock"]),
            error=short_or_none(row["error"]),
        )
        for row in rows_where(history, "txns", "txn", names)
    }


def records_of_attempts(history: History, attempts: Collection[str]) -> dict[str, str]:
    found = rows_where(history, "sends", "attempt", attempts)
    return {row["attempt"]: row["record"] for row in found}


def _by_record(found: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in found:
        grouped[row["record"]].append(row)
    return grouped


def _is_in(row: dict[str, Any], places: Collection[Place]) -> bool:
    return any(row["sink"] == sink and view in (None, row["view"]) for sink, view in places)


def _source(row: dict[str, Any]) -> str | None:
    """Return the place of the input that the effect itself names."""
    if row["source_topic"] is None:
        return None
    return short(f"{row['source_topic']}-{row['source_partition']}@{row['source_offset']}")
