"""The matrix as a table: a row per subject, a column per kind of fault, and trials in the cells.

Each scenario appears once. One with faults of several kinds gets its own column, because its
verdict cannot be attributed to one of them.
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
    """A subject and its cells."""

    subject: str
    cells: tuple[tuple[Trial, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """The non-empty columns, and a row for each subject."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def table(trials: Iterable[Trial]) -> Table:
    """Return the table of all trials that were not left out."""
    shown = [trial for trial in trials if trial.state is not State.LEFT_OUT]
    present = {column(trial) for trial in shown}
    others = sorted(present - {*_ORDER, SEVERAL})
    columns = tuple(c for c in (*_ORDER, *others, SEVERAL) if c in present)
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
    """Return the column of a trial: the kind of its faults."""
    if len(trial.kinds) > 1:
        return SEVERAL
    return trial.kinds[0] if trial.kinds else NONE
