"""Everything the reference says about one anomaly, taken from the anomaly's own file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from onceproof.checkers.anomalies import anomalies, modules_of_anomalies
from onceproof.checkers.model import Anomaly, Evidence, Hop
from onceproof.checkers.refutations import GUARANTEES
from onceproof.reports.advice import Advice, by_system
from onceproof.reports.anomalies.trial import Minimal, Trial, tried

LEAD: Final = (
    "An anomaly is a way in which a recorded history can be wrong. Each is defined by one query, "
    "whose rows are the witness."
)
HOPS: Final[Mapping[Hop, str]] = {
    Hop.PRODUCE: "application → topic",
    Hop.PROCESS: "topic → sink",
}
EVIDENCE: Final[Mapping[Evidence, str]] = {
    Evidence.PRESENCE: "the rows prove it, even in an incomplete history",
    Evidence.ABSENCE: (
        "something is missing, which is proof only if the run settled and was collected completely"
    ),
    Evidence.LIVENESS: "it stalls the run and refutes no claim",
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One anomaly, and how it relates to others."""

    anomaly: Anomaly
    minimal: Minimal
    refutes: tuple[str, ...]
    """Guarantees on the anomaly's own hop."""
    implies: tuple[str, ...]
    implied_by: tuple[str, ...]
    hint: str

    @property
    def name(self) -> str:
        return self.anomaly.name

    @property
    def hop(self) -> str:
        return HOPS[self.anomaly.hop]

    @property
    def evidence(self) -> str:
        """The meaning of its kind of evidence."""
        return EVIDENCE[self.anomaly.evidence]

    @property
    def refuted(self) -> str:
        return ", ".join(self.refutes) or "nothing; it is reported and may explain another anomaly"

    @property
    def advice(self) -> tuple[tuple[str | None, Advice], ...]:
        """What to do about it, each with the names of the systems that it is for."""
        return tuple(by_system(self.name))

    @property
    def file(self) -> str:
        module = modules_of_anomalies()[self.name].__name__
        return f"{module.removeprefix('onceproof.').replace('.', '/')}.py"

    def trial(self) -> Trial | None:
        """Judge its minimal history; None if it has none."""
        return tried(self.anomaly, self.minimal) if self.minimal else None

    def code(self) -> str:
        """Return its minimal history as Python source."""
        tables = []
        for table, rows in self.minimal.items():
            inside = "".join(f"        {dict(row)!r},\n" for row in rows)
            tables.append(f"    {table}=[\n{inside}    ],\n")
        return f"History.of(\n{''.join(tables)})"


def entry(name: str) -> Entry:
    """Return the entry of an anomaly.

    Raises:
        KeyError: there is no such anomaly.
    """
    anomaly = anomalies()[name]
    return Entry(
        anomaly=anomaly,
        minimal=anomaly.minimal,
        refutes=tuple(g for g in GUARANTEES if g in anomaly.refutes),
        implies=tuple(sorted(anomaly.implies)),
        implied_by=tuple(sorted(o.name for o in anomalies().values() if name in o.implies)),
        hint=anomaly.hint,
    )


def by_hop(names: Iterable[str] | None = None) -> dict[Hop, tuple[Entry, ...]]:
    """Return the entries by hop: those that refute a claim first, liveness last, then by name."""
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
