"""One of the two compared runs: what it judged, found, and could have seen.

It is built from a report, or from a judgement, where phases, faults and workload are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onceproof.checkers.model import Hop
from onceproof.reports.model import Claim, Findings
from onceproof.reports.scopes import Scope, sink_of

Circumstances = Mapping[str, Mapping[str, str]]
"""Section → name → value, all as text."""


@dataclass(frozen=True, kw_only=True)
class WorkloadOfSide:
    """What determines which records were sent."""

    seed: int
    workload: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two compared runs.

    Attributes:
        name: the run folder's name, or the source of the judgement.
        history: name of the run folder that was judged; None if unknown.
        sent: None if unknown.
        hazards: (kind, hop) of each observed hazard.
        incomplete: why the absence of a finding proves nothing; None if it is proof.
        flaw: why the test is not valid; None if it is.
        page: path of the run's HTML report; None if there is none.
    """

    name: str
    claims: tuple[Claim, ...]
    findings: tuple[Findings, ...] = ()
    hazards: frozenset[tuple[str, Hop]] = frozenset()
    incomplete: str | None = None
    flaw: str | None = None
    history: str | None = None
    sent: WorkloadOfSide | None = None
    circumstances: Circumstances = field(default_factory=dict)
    page: str | None = None

    @property
    def scopes(self) -> frozenset[Scope]:
        """The places where its claims look: each claim's input topic, and its sink."""
        topics = {Scope(Hop.PRODUCE, topic=claim.input) for claim in self.claims}
        return frozenset(topics | {s for c in self.claims if (s := sink_of(c)) is not None})

    @property
    def observed(self) -> frozenset[str]:
        return frozenset(kind for kind, _ in self.hazards)
