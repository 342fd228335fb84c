"""The report as one HTML page that needs nothing but itself.

The one thing to know: what a template prints is made harmless by `templating`, without anybody
having to think of it.
"""

from __future__ import annotations

from checkers import anomalies
from reports.html.facts import drawn, fine_prints, lead, tiles
from reports.html.folding import folded
from reports.html.geometry import drawing
from reports.html.story import cause_story, story
from reports.html.templating import environment, style
from reports.html.words import words
from reports.model import Report


def render(report: Report) -> str:
    """The page."""
    templates = environment()
    templates.globals |= {"story": story, "cause_story": cause_story}
    html = templates.get_template("page.html.j2").render(
        report=report,
        css=style(),
        drawing=drawing(report),
        drawn=drawn(report),
        fault_number={fault.fault: f"F{i}" for i, fault in enumerate(report.faults, 1)},
        steps={step.fault: step for step in report.run.schedule},
        findings=folded(report),
        hints={anomaly.name: anomaly.hint for anomaly in anomalies().values()},
        fine_prints=fine_prints(report),
        lead=lead(report),
        tiles=tiles(report),
        words=words(report),
    )
    return html.encode("utf-8", "replace").decode("utf-8")
