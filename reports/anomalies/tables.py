"""A minimal history as tables: the given columns, with the rows of the witness marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onceproof.checkers.model import Row
from onceproof.reports.anomalies.names import harmless
from onceproof.reports.anomalies.trial import Trial
from onceproof.reports.anomalies.witness import Witness

WRONG = "✗"


@dataclass(frozen=True, kw_only=True)
class HistoryTable:
    """One table of a history; a row is its mark and the text of each column."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables_of(trial: Trial) -> Iterator[HistoryTable]:
    """Yield the tables of a trial's history, in the order in which they were given."""
    witness = Witness(trial)
    for table, rows in trial.rows.items():
        columns = [
            column for column in (rows[0] if rows else ()) if _is_shown(trial, table, column)
        ]
        yield HistoryTable(
            name=table,
            columns=("", *columns),
            rows=tuple(
                (WRONG if witness.has(table, row) else "", *_cells(row, columns)) for row in rows
            ),
        )


def _is_shown(trial: Trial, table: str, column: str) -> bool:
    """Return whether a column was given, or is an offset that tells rows apart."""
    places = column == "offset" and len(trial.rows[table]) > 1
    return trial.has_column(table, column) or places


def _cells(row: Row, columns: list[str]) -> Iterator[str]:
    return (harmless(row[column]) for column in columns)
