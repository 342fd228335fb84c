"""Judge a minimal history: what the checkers find in it, and in which rows.

Pictures and tables highlight these findings and nothing else. A minimal history without phases
counts as settled and fully collected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from onceproof.checkers import History, atomic, end_to_end
from onceproof.checkers.judging import find
from onceproof.checkers.model import Anomaly, Finding, Row, Value
from onceproof.reports.anomalies.names import harmless

Minimal = Mapping[str, Sequence[Mapping[str, Value]]]

_COMPLETE: Final = ({"phase": "settle", "outcome": "ok"}, {"phase": "collect", "outcome": "ok"})


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The rows of a minimal history, which columns were given, and the findings."""

    anomaly: str
    rows: Mapping[str, tuple[Row, ...]]
    given: Mapping[str, frozenset[str]]
    topic: str
    sink: str
    view: str
    findings: tuple[Finding, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the checkers say about it; empty if they find nothing."""
        return tuple(dict.fromkeys(harmless(finding.sentence) for finding in self.findings))

    def has_column(self, table: str, column: str) -> bool:
        """Return whether a column was given, and not filled with its default."""
        return column in self.given.get(table, frozenset())


def tried(anomaly: Anomaly, minimal: Minimal) -> Trial:
    """Judge a minimal history, looking for this anomaly only."""
    trial = laid_out(anomaly.name, minimal)
    views = [trial.view] if "journal" not in minimal else sorted({trial.view, "journal"})
    history = History.of(**{"phases": _COMPLETE, **minimal})
    claims = [end_to_end("exactly-once", trial.topic, into=trial.sink, view=view) for view in views]
    stated = dict.fromkeys(str(row["sink"]) for row in trial.rows.get("expected", ()))
    if len(stated) > 1:
        claims.append(atomic(trial.topic, into=[(sink, trial.view) for sink in stated]))
    found = find(history, claims, only={anomaly.name})
    findings = tuple(finding for each in found for finding in each.shown)
    return replace(trial, findings=findings)


def laid_out(name: str, minimal: Minimal) -> Trial:
    """Fill in the rows of a minimal history, without judging it."""
    history = History.of(**minimal)
    rows = {table: tuple(history[table].to_pylist()) for table in minimal}
    return Trial(
        anomaly=name,
        rows=rows,
        given={table: frozenset(c for r in given for c in r) for table, given in minimal.items()},
        topic=_first(rows, "topic", ("log", "partitions", "reads", "sends", "positions"), "input"),
        sink=_first(rows, "sink", ("effects", "state", "journal", "expected"), "ledger"),
        view=_first(
            rows, "view", ("effects", "state"), "journal" if "journal" in rows else "table"
        ),
    )


def _first(
    rows: Mapping[str, Sequence[Row]], column: str, tables: Sequence[str], default: str
) -> str:
    return next((str(row[column]) for table in tables for row in rows.get(table, ())), default)
