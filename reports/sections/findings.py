"""The findings: the first of each kind as a story, similar ones as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onceproof.checkers import anomalies
from onceproof.reports.advice import advised
from onceproof.reports.html.brief import brief
from onceproof.reports.html.folding import folded
from onceproof.reports.html.nearby_faults import around
from onceproof.reports.html.prose import prose
from onceproof.reports.html.record_trace import trace, transactions
from onceproof.reports.html.story import cause_story, story
from onceproof.reports.html.witness import witness
from onceproof.reports.model import Report
from onceproof.reports.sections.base import Section


def _context(report: Report) -> Mapping[str, object]:
    return {
        "advised": lambda anomaly: advised(anomaly, report.run.system),
        "around": around,
        "brief": brief,
        "cause_story": cause_story,
        "findings": folded(report),
        "hints": {anomaly.name: anomaly.hint for anomaly in anomalies().values()},
        "prose": prose,
        "story": story,
        "system": report.run.system,
        "trace": trace,
        "transactions": transactions,
        "witness_of": witness,
    }


SECTION: Final = Section(name="findings", heading="Findings", place=20, context=_context)
