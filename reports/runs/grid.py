"""The table: rows are subjects, columns are kinds of faults, a cell has the trials of both.

A scenario appears once. One with faults of several kinds is in a column
of its own, because nobody can say which of them a verdict is owed to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from onceproof.reports.runs.trial import State, Trial

NONE: Final = "no fault"
SEVERAL: Final = "several kinds"
_ORDER: Final = (NONE, "crash", "partition", "timeout", "surgery")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A subject, with what is in each column."""

    subject: str
    cells: tuple[tuple[Trial, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns that have anything in them, and a row for each subject."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def table(trials: Iterable[Trial]) -> Table:
    """The table of all trials but those that are left out."""
    shown = [trial for trial in trials if trial.state is not State.LEFT_OUT]
    there = {column(trial) for trial in shown}
    others = sorted(there - {*_ORDER, SEVERAL})
    columns = tuple(c for c in (*_ORDER, *others, SEVERAL) if c in there)
    rows = tuple(
        Row(
            subject=subject,
            cells=tuple(
                tuple(t for t in shown if t.subject == subject and column(t) == c) for c in columns
            ),
        )
        for subject in dict.fromkeys(trial.subject for trial in shown)
    )
    return Table(columns=columns, rows=rows)


def column(trial: Trial) -> str:
    """Where a trial stands: under the kind of its faults."""
    if len(trial.kinds) > 1:
        return SEVERAL
    return trial.kinds[0] if trial.kinds else NONE
