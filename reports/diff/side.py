"""One of the two runs: what it judged, what it found, and what it was able to see.

The one thing to know: a report and a judgement file become the same `Side`. A judgement says less
(no phases, no faults, no workload), and what it does not say counts as not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checkers.model import Hop
from reports.model import Claim, Finding, Findings

Circumstances = Mapping[str, Mapping[str, str]]
"""Section → name → value, all in words."""


@dataclass(frozen=True, order=True)
class Stretch:
    """The part of a run in which something is looked for: a topic, or a sink as somebody sees it.

    Attributes:
        hop: of the anomalies that are looked for there.
        topic: the topic that producers write to; empty for a sink.
        sink: the sink; empty for a topic.
        view: who looks at the sink.
    """

    hop: Hop
    topic: str = ""
    sink: str = ""
    view: str = ""

    @property
    def name(self) -> str:
        """In words; what has no place of its own is of the whole run."""
        if self.sink:
            return f"{self.sink} ({self.view})" if self.view else self.sink
        return self.topic or "the run"


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


def sink_of(claim: Claim) -> Stretch | None:
    """The sink that a claim speaks of; None if it speaks of none."""
    if claim.hop is Hop.PRODUCE or claim.sink is None:
        return None
    return Stretch(Hop.PROCESS, sink=claim.sink, view=claim.view or "")


def stretch_of(group: Findings, finding: Finding) -> Stretch:
    """Where a finding lies; of the whole run if its key names neither sink nor topic."""

    def text(name: str) -> str:
        value = finding.key.get(name)
        return value if isinstance(value, str) else ""

    if group.hop is Hop.PRODUCE:
        return Stretch(group.hop, topic=text("topic"))
    return Stretch(group.hop, sink=text("sink"), view=text("view"))
