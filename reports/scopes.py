"""Where claims look for anomalies, and where findings are."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.checkers.model import Hop
from onceproof.reports.model import Claim, Finding, Findings


@dataclass(frozen=True, order=True)
class Scope:
    """A place where anomalies are looked for: a topic, or a sink as one view sees it.

    A finding whose key names no place concerns the whole run, and so every claim.

    Attributes:
        hop: of the anomalies looked for there.
        topic: empty for a sink.
        sink: empty for a topic.
    """

    hop: Hop
    topic: str = ""
    sink: str = ""
    view: str = ""

    @property
    def name(self) -> str:
        if self.sink:
            return f"{self.sink} ({self.view})" if self.view else self.sink
        return self.topic or "the run"


def sink_of(claim: Claim) -> Scope | None:
    """Return the sink of a claim; None if it has none."""
    if claim.hop is Hop.PRODUCE or claim.sink is None:
        return None
    return Scope(Hop.PROCESS, sink=claim.sink, view=claim.view or "")


def scope_of(group: Findings, finding: Finding) -> Scope:
    """Return where a finding is; the whole run if its key names neither sink nor topic."""

    def text(name: str) -> str:
        value = finding.key.get(name)
        return value if isinstance(value, str) else ""

    if group.hop is Hop.PRODUCE:
        return Scope(group.hop, topic=text("topic"))
    return Scope(group.hop, sink=text("sink"), view=text("view"))


def looks_at(claim: Claim, group: Findings, finding: Finding) -> bool:
    """Return whether a finding is where a claim looks."""
    where = scope_of(group, finding)
    if where.sink:
        return where.sink == claim.sink and claim.view in (None, where.view or claim.view)
    return where.topic in ("", claim.input)
