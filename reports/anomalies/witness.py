"""Match the rows of a witness to the rows of a history.

A witness has the columns of a query. For each table, `_NAMED` lists which of them identify a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onceproof.checkers.model import Row, Value
from onceproof.reports.anomalies.trial import Trial

_SENT = {"what": "send"}
_SEEN = {"source": "send"}
_POSITION = {"topic": "topic", "partition": "partition"}
_STEP = {"topic": "at_topic", "partition": "at_partition"}
_SINK = {"sink": "sink", "view": "view"}
_READER = {"reader": "reader", "session": "session"}

_NAMED: Final[Mapping[str, tuple[tuple[Mapping[str, str], Mapping[str, str]], ...]]] = {
    "sends": (
        ({"txn": "source", "record": "record"}, {"kind": "wr"}),
        ({"txn": "target", "record": "record"}, {"kind": "ww"}),
        ({"txn": "source", "record": "after_record"}, {"kind": "ww"}),
        ({"attempt": "attempt"}, {}),
        ({"attempt": "after_attempt"}, {}),
        ({"attempt": "name"}, _SENT),
        ({"attempt": "who"}, _SEEN),
    ),
    "txns": (({"txn": "txn"}, {}), ({"txn": "source"}, {"kind": "*"}), ({"txn": "target"}, {})),
    "staged": ((_POSITION | {"txn": "txn", "owner": "name", "offset": "offset"}, {}),),
    "log": (
        (_POSITION | {"offset": "offset", "record": "record"}, {}),
        (_POSITION | {"offset": "offset"}, {"record": "-"}),
        ({"topic": "topic", "key": "key"}, {"record": "-", "offset": "-"}),
        (_POSITION | {"offset": "after_offset"}, {}),
        (_STEP | {"offset": "at_offset"}, {}),
        (_STEP | {"offset": "after_offset"}, {}),
    ),
    "partitions": ((_POSITION | {"last_stable_offset": "last_stable_offset"}, {}),),
    "reads": (
        (_READER | {"ordinal": "ordinal"}, {}),
        (_STEP | {"offset": "at_offset", "txn": "target"}, {"kind": "wr"}),
        (_POSITION | {"offset": "offset", "reader": "who", "record": "record"}, {"source": "read"}),
    ),
    "assignments": ((_READER | _POSITION | {"position": "position"}, {}),),
    "effects": (
        (_SINK | {"record": "record", "position": "position"}, {}),
        (_SINK | {"record": "record", "position": "effect_position"}, {}),
        (_SINK | {"ordinal": "ordinal"}, {"role": "-"}),
        (_SINK | {"ordinal": "after_ordinal"}, {}),
    ),
    "journal": (({"sink": "sink", "ordinal": "ordinal"}, {"view": "journal"}),),
    "state": ((_SINK | {"state_key": "state_key", "aggregate": "aggregate"}, {}),),
    "positions": (
        (_POSITION | {"owner": "owner", "role": "role", "ordinal": "ordinal"}, {}),
        (_POSITION | {"owner": "owner", "offset": "position"}, {"ordinal": "-"}),
    ),
    "ranges": (
        (_POSITION | {"owner": "owner", "batch": "batch", "start_offset": "start_offset"}, {}),
        (_POSITION | {"owner": "owner", "batch": "previous_batch"}, {}),
    ),
    "instances": (({"instance": "instance"}, {}), ({"instance": "successor"}, {})),
    "phases": (({"phase": "phase"}, {}),),
}
"""Table → ways to identify a row: column of the table → column of the witness, and conditions on
other columns of the witness (a value; `*`: any value; `-`: NULL or missing).
"""


class Witness:
    """The witness rows of a trial's findings."""

    def __init__(self, trial: Trial) -> None:
        self._known: dict[str, Value] = {"topic": trial.topic}
        self.rows: tuple[Row, ...] = tuple(
            {**finding.key, **row, **_place_of_unit(row)}
            for finding in trial.findings
            for row in finding.witness
        )

    def has(self, table: str, row: Row) -> bool:
        """Return whether the witness includes a row."""
        return any(
            self._names(found, row, columns, like)
            for columns, like in _NAMED.get(table, ())
            for found in self.rows
        )

    def _names(
        self, found: Row, row: Row, columns: Mapping[str, str], like: Mapping[str, str]
    ) -> bool:
        for column, wanted in like.items():
            value = found.get(column)
            if value is None and wanted != "-":
                return False
            if value is not None and wanted not in ("*", value):
                return False
        return all(
            _same(found.get(theirs, self._known.get(theirs)), row[ours])
            for ours, theirs in columns.items()
        )


def _same(value: Value, there: Value) -> bool:
    return value is not None and type(value) is type(there) and value == there


def _place_of_unit(row: Row) -> Row:
    """Return the topic of a transaction's unit, which may differ from the topic on trial."""
    return {"topic": row["unit_topic"]} if row.get("unit_topic") is not None else {}
