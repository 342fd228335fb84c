"""Which findings are shown in full and which are folded away behind one that is like them.

Two findings are alike when they are of one anomaly and share cause, acting
faults and micro-batch. Of each kind the first is shown as a story, the others are rows of a table.
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
"""How many characters of HTML the rows of all tables together may take."""
_MARKUP = 260
"""About how many of them are not text, in one row."""


@dataclass(frozen=True, kw_only=True)
class Alike:
    """One finding that is shown, and those that are like it. `number` is that of the story."""

    number: int
    first: Finding
    others: tuple[Finding, ...]
    tells_moment: bool
    """Whether what the logs say around it stands here, and not with a story before."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """All findings of one anomaly as the page shows them."""

    findings: Findings
    kinds: tuple[Alike, ...]
    rest: tuple[Finding, ...]
    """Findings of further kinds, for which there is no room to tell them in full."""
    not_shown: int


def folded(report: Report) -> tuple[Group, ...]:
    """The groups of a report, with as many stories as fit a page."""
    left, room = _STORIES, _Room(left=_ROWS)
    number = 0
    shown_moments: set[int] = set()
    groups = []
    for findings in report.findings:
        kinds: dict[object, list[Finding]] = {}
        for finding in findings.shown:
            kinds.setdefault(_likeness(report, finding), []).append(finding)
        alike: list[Alike] = []
        rest: list[Finding] = []
        for first, *others in kinds.values():
            # Every anomaly gets one story, whatever the ones before it took.
            if left <= 0 and alike:
                rest += [first, *others]
                continue
            number, left = number + 1, left - 1
            moment = first.moment
            new = moment is not None and moment not in shown_moments
            shown_moments |= {moment} if moment is not None else set()
            alike.append(
                Alike(number=number, first=first, others=room.rows(others), tells_moment=new)
            )
        further = room.rows(rest)
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


class _Room:
    """Room for rows; what does not fit is only counted."""

    def __init__(self, *, left: int) -> None:
        self._left = left

    def rows(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """As many of the first findings as there is room for."""
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
    """By anomaly: when each finding came about, and the number of the story that tells it."""
    found: dict[str, list[tuple[float, int]]] = {}
    for group in groups:
        mine = found.setdefault(group.findings.anomaly, [])
        for kind in group.kinds:
            times = [f.at for f in (kind.first, *kind.others) if f.at is not None]
            mine += [(at, kind.number) for at in times]
    return found


def _likeness(report: Report, finding: Finding) -> object:
    causes = frozenset((cause.hazard, cause.fault) for cause in finding.causes)
    batches = frozenset(row.get("batch") for row in finding.witness)
    acted = acting(report, finding.at) if finding.at is not None else ()
    # Without a known cause each micro-batch would be a kind of its own and nothing would fold.
    return (causes, acted, batches if causes else None)
