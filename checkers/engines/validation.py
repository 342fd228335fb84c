"""Validate a history's contents once, in the engine that opens it.

Queries rely on this. `OK` for `ok` would be judged wrongly, and a log entry that was recorded twice
would look like a duplicate.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.engines.overlay import Layer
from onceproof.checkers.history import BadHistory, History
from onceproof.checkers.tables import TABLES

WORDS: Final[dict[str, dict[str, frozenset[str]]]] = {
    "sends": {"outcome": frozenset({"ok", "fail", "info"})},
    "txns": {"outcome": frozenset({"committed", "aborted", "info"})},
    "log": {
        "kind": frozenset({"data", "commit", "abort", "odd"}),
        "lateness": frozenset({"late", "unclear"}),
    },
    "reads": {"isolation": frozenset({"read_committed", "read_uncommitted"})},
    "assignments": {"isolation": frozenset({"read_committed", "read_uncommitted"})},
    "journal": {"operation": frozenset({"append", "upsert", "delete"})},
    "contributions": {"operation": frozenset({"sum", "count", "min", "max", "last"})},
    "positions": {
        "role": frozenset({"atomic", "resume", "advisory"}),
        "kind": frozenset({"planned", "done"}),
        "by": frozenset({"subject", "harness"}),
    },
    "hazards": {"hop": frozenset({"produce", "process"})},
    "phases": {"outcome": frozenset({"ok", "failed", "stalled", "held-back", "interrupted"})},
}
"""Columns with a fixed vocabulary."""

UNIQUE: Final[dict[str, tuple[str, ...]]] = {
    "sends": ("attempt",),
    "txns": ("txn",),
    "log": ("topic", "partition", "offset", "record"),
    "partitions": ("topic", "partition"),
    "state": ("sink", "view", "state_key", "aggregate"),
    "journal": ("sink", "ordinal"),
    "instances": ("instance",),
}
"""Unique keys of tables."""

DEAD_LETTER: Final = "~dead-letter"
"""The effect key that queries use for dead letters; no effect may have it."""


def check_contents(layer: Layer, history: History) -> None:
    """Validate the contents of all columns.

    Raises:
        BadHistory: a value is missing or unknown, or a row is duplicated.
    """
    for name, table in TABLES.items():
        if not history.rows(name):
            continue
        where = history.where(name)
        needed = {c.name for c in table.columns if not c.nullable} - history.full(name)
        _check_known(layer, name, sorted(needed), where)
        _check_words(layer, name, WORDS.get(name, {}), where)
        if name == "log":
            _check_places(layer, where)
        elif unique := UNIQUE.get(name):
            _check_unique(layer, name, unique, where)
        if name == "contributions":
            _check_operations(layer, where)
        if any(column.name == "effect_key" for column in table.columns):
            _check_effect_keys(layer, name, where)


def _check_known(layer: Layer, name: str, columns: list[str], where: str) -> None:
    if not columns:
        return
    counts = ", ".join(f'count(*) - count("{column}") AS "{column}"' for column in columns)
    (unknown,) = layer.rows(f"SELECT {counts} FROM {name}")
    for column, count in unknown.items():
        if count:
            raise BadHistory(
                f"{where}, column {column}: expected a value in every row, found {count} NULL. "
                "Write a value, or leave out rows with unknown values."
            )


def _check_words(
    layer: Layer, name: str, vocabularies: dict[str, frozenset[str]], where: str
) -> None:
    if not vocabularies:
        return
    columns = ", ".join(f'"{column}"' for column in vocabularies)
    for row in layer.rows(f"SELECT DISTINCT {columns} FROM {name}"):
        for column, words in vocabularies.items():
            if row[column] is not None and row[column] not in words:
                raise BadHistory(
                    f"{where}, column {column}: expected one of {', '.join(sorted(words))}, found "
                    f"{row[column]!r}. Correct the value."
                )


def _check_unique(layer: Layer, name: str, unique: tuple[str, ...], where: str) -> None:
    key = ", ".join(f'"{column}"' for column in unique)
    # Hashes are quick to count; collisions are sorted out below.
    hashes = f"SELECT hash({key}) AS h FROM {name} GROUP BY hash({key}) HAVING count(*) > 1"
    if not layer.rows(f"SELECT 1 AS one FROM ({hashes}) d LIMIT 1"):
        return
    twice = layer.rows(
        f"SELECT {key}, count(*) AS n FROM {name} JOIN ({hashes}) d ON d.h = hash({key}) "
        f"GROUP BY {key} HAVING count(*) > 1 ORDER BY {key} LIMIT 1"
    )
    for row in twice:
        count = row.pop("n")
        raise BadHistory(f"{where} has {count} rows for {row}; expected 1. Remove the duplicates.")


def _check_places(layer: Layer, where: str) -> None:
    """Check that an offset has one row, or one per record that was seen there."""
    if not layer.rows("SELECT 1 AS one FROM contested_places LIMIT 1"):
        return
    for row in layer.rows("""
SELECT l.topic, l."partition", l."offset", count(*) AS n, count(DISTINCT l.record) AS records
FROM log l
JOIN contested_places c ON c.h = hash(l.topic, l."partition", l."offset")
GROUP BY l.topic, l."partition", l."offset"
HAVING count(*) > 1 AND count(*) > count(DISTINCT l.record)
ORDER BY l.topic, l."partition", l."offset"
LIMIT 1
"""):
        count, records = row.pop("n"), row.pop("records")
        raise BadHistory(
            f"{where} has {count} rows for {row}, with {records} known records; expected 1 row, or "
            "1 for each record that was seen there. Remove the duplicates."
        )


def _check_effect_keys(layer: Layer, name: str, where: str) -> None:
    if layer.rows(f"SELECT 1 AS one FROM {name} WHERE effect_key = '{DEAD_LETTER}' LIMIT 1"):
        raise BadHistory(
            f"{where}, column effect_key: {DEAD_LETTER!r} is reserved for dead letters. Use "
            "another effect key, or write the dead letter as an effect of the sink of dead letters."
        )


def _check_operations(layer: Layer, where: str) -> None:
    for row in layer.rows(
        "SELECT sink, aggregate, min(operation) AS one, max(operation) AS other "
        "FROM contributions GROUP BY sink, aggregate HAVING min(operation) <> max(operation)"
    ):
        raise BadHistory(
            f"{where}: aggregate {row['aggregate']!r} of sink {row['sink']!r} has operations "
            f"{row['one']} and {row['other']}; expected one operation. Rename one of the "
            "aggregates."
        )
