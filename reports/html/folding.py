"""Which findings are shown open and which are folded away behind one that is like them.

The one thing to know: two findings are alike when they are of one anomaly and share cause, fault
and micro-batch. Of each kind the first is told; the page holds at most `_TOLD` stories in all.
"""

from __future__ import annotations

from dataclasses import dataclass

from reports.model import Finding, Findings, Report

_TOLD, _FOLDED = 160, 25


@dataclass(frozen=True, kw_only=True)
class Alike:
    """One finding that is told, and those that are like it."""

    first: Finding
    others: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class Group:
    """All findings of one anomaly as the page shows them."""

    findings: Findings
    kinds: tuple[Alike, ...]
    not_shown: int


def folded(report: Report) -> tuple[Group, ...]:
    """The groups of a report, bounded for a page."""
    left = _TOLD
    groups = []
    for findings in report.findings:
        kinds: dict[object, list[Finding]] = {}
        for finding in findings.shown:
            kinds.setdefault(_likeness(finding), []).append(finding)
        alike: list[Alike] = []
        for same in kinds.values():
            # Every anomaly gets one story, whatever the ones before it took.
            room = min(_FOLDED + 1, max(left, 0 if alike else 1), len(same))
            if room:
                alike.append(Alike(first=same[0], others=tuple(same[1:room])))
                left -= room
        told = sum(1 + len(kind.others) for kind in alike)
        groups.append(Group(findings=findings, kinds=tuple(alike), not_shown=findings.count - told))
    return tuple(groups)


def _likeness(finding: Finding) -> object:
    causes = frozenset((cause.hazard, cause.fault) for cause in finding.causes)
    batches = frozenset(row.get("batch") for row in finding.witness)
    # Without a known cause each micro-batch would be a kind of its own and nothing would fold.
    return (causes, batches if causes else None)
