"""The report as one HTML page that needs nothing but itself.

The one thing to know: everything that a template prints is foreign text. It is escaped by Jinja2
and made visible by `finalize`, without anybody having to think of it; only `Markup` that a module
of this package composed is trusted.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from checkers import anomalies
from reports import text
from reports.html.facts import drawn, fine_prints, flat, lead, tiles
from reports.html.folding import folded
from reports.html.geometry import drawing
from reports.html.story import cause_story, story
from reports.html.words import words
from reports.model import Report

_HERE = Path(__file__).parent


def render(report: Report) -> str:
    """The page."""
    page = _environment().get_template("page.html.j2")
    html = page.render(
        report=report,
        css=Markup((_HERE / "style.css").read_text(encoding="utf-8")),
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


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": text.number,
        "seconds": text.seconds,
        "flat": flat,
        "cell": _cell,
    }
    environment.globals |= {
        "plural": text.plural,
        "story": story,
        "cause_story": cause_story,
    }
    return environment


def _seen(value: object) -> object:
    return (
        text.visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
    )


def _cell(value: object) -> str:
    """A value of a witness row; what is not known is a dash."""
    if value is None:
        return "–"
    if value == "":
        return "(empty)"
    return str(value).lower() if isinstance(value, bool) else str(value)
