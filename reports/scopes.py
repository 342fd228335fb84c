"""Where claims look and findings lie: a topic, or a sink as somebody sees it.

What has no place in its key is of the whole run, and concerns every claim.
"""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.checkers.model import Hop
from onceproof.reports.model import Claim, Finding, Findings


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


def looks_at(claim: Claim, group: Findings, finding: Finding) -> bool:
    """Whether a finding lies where a claim looks."""
    where = stretch_of(group, finding)
    if where.sink:
        return where.sink == claim.sink and claim.view in (None, where.view or claim.view)
    return where.topic in ("", claim.input)
