"""One of the two runs: what it judged, what it found, and what it was able to see.

A report and a judgement file become the same `Side`. A judgement says less
(no phases, no faults, no workload), and what it does not say counts as not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onceproof.checkers.model import Hop
from onceproof.reports.model import Claim, Findings
from onceproof.reports.scopes import Stretch, sink_of

Circumstances = Mapping[str, Mapping[str, str]]
"""Section → name → value, all in words."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What decides which records were sent."""

    seed: int
    workload: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one run says.

    Attributes:
        name: the run folder's, or what the judgement calls its source.
        history: name of the run folder that was judged; None where nobody knows.
        sent: what was sent; None where nobody knows.
        claims: with their verdicts.
        findings: all of them by anomaly.
        hazards: (kind, hop) of everything observed that put a claim to the test.
        incomplete: why the absence of a finding proves nothing; None where it proves something.
        flaw: why the test itself is not to be trusted; None where it is.
        circumstances: what may explain a difference.
        page: the report of the run, as a path; None where there is none.
    """

    name: str
    claims: tuple[Claim, ...]
    findings: tuple[Findings, ...] = ()
    hazards: frozenset[tuple[str, Hop]] = frozenset()
    incomplete: str | None = None
    flaw: str | None = None
    history: str | None = None
    sent: Sent | None = None
    circumstances: Circumstances = field(default_factory=dict)
    page: str | None = None

    @property
    def stretches(self) -> frozenset[Stretch]:
        """Where its claims look: what producers did is looked at wherever a claim reads it."""
        topics = {Stretch(Hop.PRODUCE, topic=claim.input) for claim in self.claims}
        return frozenset(topics | {s for c in self.claims if (s := sink_of(c)) is not None})

    @property
    def observed(self) -> frozenset[str]:
        """Kinds of the hazards that were observed, wherever."""
        return frozenset(kind for kind, _ in self.hazards)
