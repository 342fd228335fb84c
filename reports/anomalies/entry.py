"""Everything that there is to say of one anomaly, for the page and for a terminal.

Nothing is written twice: all of it is in the anomaly's own file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from onceproof.checkers.anomalies import anomalies, modules_of_anomalies
from onceproof.checkers.model import Anomaly, Evidence, Hop
from onceproof.checkers.refutations import GUARANTEES
from onceproof.reports.anomalies.trial import Minimal, Trial, tried

LEAD: Final = (
    "An anomaly is a pattern in a recorded history that a claim cannot live with. Each has one "
    "query, whose rows are the witness."
)
HOPS: Final[Mapping[Hop, str]] = {
    Hop.PRODUCE: "application → topic",
    Hop.PROCESS: "topic → sink",
}
EVIDENCE: Final[Mapping[Evidence, str]] = {
    Evidence.PRESENCE: "the rows themselves prove it, also in a history that was cut short",
    Evidence.ABSENCE: (
        "something is missing, which counts only after settling and collecting were complete"
    ),
    Evidence.LIVENESS: "it stalls a run and refutes nothing",
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One anomaly and what surrounds it."""

    anomaly: Anomaly
    minimal: Minimal
    refutes: tuple[str, ...]
    """Guarantees on the anomaly's own hop."""
    brings: tuple[str, ...]
    brought_by: tuple[str, ...]
    hint: str

    @property
    def name(self) -> str:
        """The anomaly's name."""
        return self.anomaly.name

    @property
    def hop(self) -> str:
        """The hop in words."""
        return HOPS[self.anomaly.hop]

    @property
    def evidence(self) -> str:
        """What its kind of evidence means."""
        return EVIDENCE[self.anomaly.evidence]

    @property
    def refuted(self) -> str:
        """What it refutes, in words."""
        return ", ".join(self.refutes) or "nothing; it is shown, and may explain another"

    @property
    def file(self) -> str:
        """Where it is written."""
        module = modules_of_anomalies()[self.name].__name__
        return f"{module.removeprefix('onceproof.').replace('.', '/')}.py"

    def trial(self) -> Trial | None:
        """Its minimal history, judged; None where it has none."""
        return tried(self.anomaly, self.minimal) if self.minimal else None

    def code(self) -> str:
        """Its minimal history as one would write it."""
        tables = []
        for table, rows in self.minimal.items():
            inside = "".join(f"        {dict(row)!r},\n" for row in rows)
            tables.append(f"    {table}=[\n{inside}    ],\n")
        return f"History.of(\n{''.join(tables)})"


def entry(name: str) -> Entry:
    """What there is to say of an anomaly.

    Raises:
        KeyError: there is no such anomaly.
    """
    anomaly = anomalies()[name]
    return Entry(
        anomaly=anomaly,
        minimal=anomaly.minimal,
        refutes=tuple(g for g in GUARANTEES if g in anomaly.refutes),
        brings=tuple(sorted(anomaly.implies)),
        brought_by=tuple(sorted(o.name for o in anomalies().values() if name in o.implies)),
        hint=anomaly.hint,
    )


def by_hop(names: Iterable[str] | None = None) -> dict[Hop, tuple[Entry, ...]]:
    """All entries in the order of the hops, then of what they refute and of their names."""
    known = anomalies()
    entries = [entry(name) for name in (known if names is None else names)]
    return {
        hop: tuple(
            sorted(
                (e for e in entries if e.anomaly.hop is hop),
                key=lambda e: (
                    e.anomaly.evidence is Evidence.LIVENESS,
                    not e.refutes,
                    e.name.lower(),
                ),
            )
        )
        for hop in HOPS
    }
