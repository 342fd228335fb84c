"""The big tables of a generated history: sends, txns, log, effects, expected.

Here the numbers of an episode become what a real run writes: identities,
digests, times. Names and formats are those of the harness's own producers and auditor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onceproof.checkers.tables import TABLES

BULK: Final = ("sends", "txns", "log", "effects", "expected")
"""The tables that grow with the records."""
TOPIC: Final = "input"
SINK: Final = "ledger"
VIEW: Final = "table"
OWNER: Final = "6f0c8a52-4d1e-4c59-9b7a-2f6f3f0a1d10"
"""The streaming query's id."""
CLOCK: Final = "0b7b5a0e-93a1-4d6c-8a51-55d1a8c6f3aa/CLOCK_MONOTONIC"
BEGIN: Final = 3_600_000_000_000
"""When the first record is sent: an hour after boot."""
STEP: Final = 10_000
"""Nanoseconds of one step."""

_SQL_TYPES: Final = {"string": "VARCHAR", "int32": "INTEGER", "int64": "BIGINT", "bool": "BOOLEAN"}


def _digest(text: str) -> str:
    return f"substr(md5({text}), 1, 16)"


def _time(step: str) -> str:
    return f"{BEGIN} + {STEP} * {step}"


_SESSION: Final = "'producer-' || producer || '/34630b8a' || producer"
_ATTEMPT: Final = f"{_SESSION} || '/' || ordinal"
_TXN: Final = f"{_SESSION} || '/txn-' || txn"
_RECORD: Final = "format('p{}-{:06d}', producer, record)"
_KEY: Final = "format('account-{:03d}', key)"
_EFFECT: Final = _digest(f"{_RECORD} || '/' || leg")

_COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "sends": {
        "attempt": _ATTEMPT,
        "record": _RECORD,
        "key": _KEY,
        "digest": _digest(_RECORD),
        "ordinal": "ordinal",
        "session": _SESSION,
        "txn": _TXN,
        "topic": f"'{TOPIC}'",
        "partition": '"partition"',
        "offset": '"offset"',
        "outcome": "outcome",
        "called_at": _time("called"),
        "returned_at": f"CASE WHEN outcome = 'ok' THEN {_time('(called + 400)')} END",
        "clock": f"'{CLOCK}'",
        "error": "CASE WHEN outcome = 'info' THEN 'Local: Message timed out' END",
    },
    "txns": {
        "txn": _TXN,
        "session": _SESSION,
        "transactional_id": "'payments-' || producer",
        "outcome": "outcome",
        "began_at": _time("began"),
        "commit_called_at": _time("commit_called"),
        "ended_at": _time("ended"),
        "clock": f"'{CLOCK}'",
        "error": "CASE WHEN outcome = 'info' THEN 'Local: Timed out' END",
    },
    "log": {
        "topic": f"'{TOPIC}'",
        "partition": '"partition"',
        "offset": '"offset"',
        "kind": "kind",
        "record": _RECORD,
        "attempt": _ATTEMPT,
        "key": _KEY,
        "digest": _digest(_RECORD),
        "producer_id": "1000 + producer",
        "epoch": "0",
        "sequence": "sequence",
        "committed": "committed",
    },
    "effects": {
        "sink": f"'{SINK}'",
        "view": f"'{VIEW}'",
        "record": _RECORD,
        "effect_key": "leg",
        "digest": _EFFECT,
        "position": f"'{SINK} row ' || effect",
        "ordinal": "effect",
        "source_topic": f"'{TOPIC}'",
        "source_partition": '"partition"',
        "source_offset": '"offset"',
        "owner": f"'{OWNER}'",
        "batch": "n",
    },
    "expected": {
        "sink": f"'{SINK}'",
        "record": _RECORD,
        "effect_key": "leg",
        "digest": _EFFECT,
    },
}
"""What each column is, over the columns of the episode's rows."""


def select(table: str, source: str) -> str:
    """A query for a table exactly as the contract has it; what no episode says is not known.

    Args:
        table: one of the big ones.
        source: a query for the episode's rows.
    """
    made = ", ".join(
        f'CAST({_COLUMNS[table].get(c.name, "NULL")} AS {_SQL_TYPES[str(c.type)]}) AS "{c.name}"'
        for c in TABLES[table].columns
    )
    return f"SELECT {made} FROM ({source}) s"
