"""The timeline: the picture, its legend, and the same in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onceproof.reports.html.folding import folded, stories
from onceproof.reports.html.geometry import drawing
from onceproof.reports.html.words import words
from onceproof.reports.model import Report
from onceproof.reports.sections.base import Section


def _context(report: Report) -> Mapping[str, object]:
    count = sum(group.count for group in report.findings)
    shown = sum(mark.count for mark in report.timeline.findings)
    return {
        "count": count,
        "drawing": drawing(report, stories(folded(report))),
        "not_drawn": max(count - shown, 0),
        "unknown_lag": _unknown_lag(report),
        "words": words(report),
    }


def _unknown_lag(report: Report) -> str:
    """Return why the timeline shows no lag; empty if it does, or if there is nothing to show."""
    if report.timeline.lags or not report.counts.get("effects"):
        return ""
    if not report.counts.get("positions"):
        return "Lag is not drawn: the history has no stored positions of readers."
    return (
        "Lag is not drawn: the stored positions of readers were collected after the run and have "
        "no times."
    )


SECTION: Final = Section(name="timeline", heading="Timeline", place=30, context=_context)
