"""The page of an audit: one file that needs nothing but itself."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from onceproof.reports.audit.chart import HEIGHT, WIDTH, bars
from onceproof.reports.audit.model import AuditReport, Result
from onceproof.reports.html.templating import environment, policy, style
from onceproof.reports.text import storable

_HERE: Final = Path(__file__).parent
_TONES: Final = {
    Result.CLEAN: "holds",
    Result.VIOLATED: "violated",
    Result.UNKNOWN: "unknown",
    Result.INVALID: "invalid",
}
"""A result → the verdict whose colour and sign it has."""


def render(report: AuditReport) -> str:
    """The page."""
    templates = environment(_HERE / "templates")
    templates.globals |= {"tone": _TONES.__getitem__}
    css = style(_HERE / "audit.css")
    shown = {name: None for bucket in report.buckets for name in bucket.found}
    page = templates.get_template("audit.html.j2").render(
        report=report,
        css=css,
        policy=policy(css, None),
        charts=[(name, bars(report.buckets, name)) for name in shown],
        width=WIDTH,
        height=HEIGHT,
    )
    return storable(page)
