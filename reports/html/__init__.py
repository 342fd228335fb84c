"""The report as one HTML page that needs nothing but itself.

What a template prints is made harmless by `templating`, without anybody
having to think of it.
"""

from __future__ import annotations

from pathlib import Path

from onceproof.checkers import anomalies
from onceproof.reports.completeness import missed
from onceproof.reports.html.around import around
from onceproof.reports.html.brief import brief
from onceproof.reports.html.facts import drawn, fine_prints, lead, tiles, unknown_lag
from onceproof.reports.html.folding import folded, stories
from onceproof.reports.html.geometry import drawing
from onceproof.reports.html.record_trace import transactions, way
from onceproof.reports.html.story import cause_story, story
from onceproof.reports.html.templating import environment, policy, script, style
from onceproof.reports.html.words import words
from onceproof.reports.model import Report
from onceproof.reports.text import UNSEALED

_HERE = Path(__file__).parent
_STYLES = (_HERE / "timeline.css", _HERE / "page.css", _HERE / "paper.css")
_SCRIPT = _HERE / "timeline.js"


def render(report: Report) -> str:
    """The page."""
    templates, groups, css, code = environment(), folded(report), style(*_STYLES), script(_SCRIPT)
    templates.globals |= {
        "around": around,
        "brief": brief,
        "cause_story": cause_story,
        "story": story,
        "transactions": transactions,
        "way": way,
    }
    html = templates.get_template("page.html.j2").render(
        report=report,
        css=css,
        code=code,
        policy=policy(css, code),
        drawing=drawing(report, stories(groups)),
        drawn=drawn(report),
        fault_number={fault.fault: f"F{i}" for i, fault in enumerate(report.faults, 1)},
        steps={step.fault: step for step in report.run.schedule},
        findings=groups,
        hints={anomaly.name: anomaly.hint for anomaly in anomalies().values()},
        fine_prints=fine_prints(report),
        lead=lead(report),
        unsealed=UNSEALED,
        missed=missed(report),
        tiles=tiles(report),
        unknown_lag=unknown_lag(report),
        words=words(report),
    )
    return html.encode("utf-8", "replace").decode("utf-8")
