"""Decide which findings are shown in full, and which as rows below a similar one.

Findings of an anomaly are alike if they share causes, active faults and micro-batches. The first of
them is shown as a story, the others as rows of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import escape

from onceproof.reports.html.brief import brief
from onceproof.reports.html.nearby_faults import acting
from onceproof.reports.model import Finding, Findings, Report

_STORIES = 60
_ROWS = 800_000
"""Maximum size of the rows of all tables together, in characters of HTML."""
_MARKUP = 260
"""About how much of a row's HTML is markup."""


@dataclass(frozen=True, kw_only=True)
class SimilarFinding:
    """A finding that is shown as story `number`, and the others like it."""

    number: int
    first: Finding
    others: tuple[Finding, ...]
    tells_moment: bool
    """Whether the story quotes the logs; False if an earlier story quotes the same period."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """All findings of one anomaly, as the page shows them."""

    findings: Findings
    kinds: tuple[SimilarFinding, ...]
    rest: tuple[Finding, ...]
    """Findings unlike the others that get rows because there is no room for more stories."""
    not_shown: int


def folded(report: Report) -> tuple[Group, ...]:
    """Return the groups of a report, with as many stories as fit on a page."""
    left, budget = _STORIES, _SizeBudget(left=_ROWS)
    number = 0
    shown_moments: set[int] = set()
    groups = []
    for findings in report.findings:
        kinds: dict[object, list[Finding]] = {}
        for finding in findings.shown:
            kinds.setdefault(_kind_key(report, finding), []).append(finding)
        alike: list[SimilarFinding] = []
        rest: list[Finding] = []
        for first, *others in kinds.values():
            # Every anomaly gets at least one story, even beyond the limit.
            if left <= 0 and alike:
                rest += [first, *others]
                continue
            number, left = number + 1, left - 1
            moment = first.moment
            new = moment is not None and moment not in shown_moments
            shown_moments |= {moment} if moment is not None else set()
            alike.append(
                SimilarFinding(
                    number=number, first=first, others=budget.rows(others), tells_moment=new
                )
            )
        further = budget.rows(rest)
        groups.append(
            Group(
                findings=findings,
                kinds=tuple(alike),
                rest=further,
                not_shown=findings.count
                - sum(1 + len(kind.others) for kind in alike)
                - len(further),
            )
        )
    return tuple(groups)


class _SizeBudget:
    """Room for rows; what does not fit is only counted."""

    def __init__(self, *, left: int) -> None:
        self._left = left

    def rows(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        kept = []
        for finding in findings:
            row = brief(finding)
            texts = (row.sentence, *row.sent, *row.logged, *row.written)
            self._left -= _MARKUP + sum(len(escape(text)) for text in texts)
            if self._left < 0:
                break
            kept.append(finding)
        return tuple(kept)


def stories(groups: tuple[Group, ...]) -> Mapping[str, list[tuple[float, int]]]:
    """Return, by anomaly, the time of each finding and the number of its story."""
    found: dict[str, list[tuple[float, int]]] = {}
    for group in groups:
        mine = found.setdefault(group.findings.anomaly, [])
        for kind in group.kinds:
            times = [f.at for f in (kind.first, *kind.others) if f.at is not None]
            mine += [(at, kind.number) for at in times]
    return found


def _kind_key(report: Report, finding: Finding) -> object:
    causes = frozenset((cause.hazard, cause.fault) for cause in finding.causes)
    batches = frozenset(row.get("batch") for row in finding.witness)
    acted = acting(report, finding.at) if finding.at is not None else ()
    # Without a known cause, each micro-batch would be a kind of its own and nothing would fold.
    return (causes, acted, batches if causes else None)
