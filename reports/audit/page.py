"""Render an audit report as one self-contained page."""

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
"""The verdict whose colour and sign each result gets."""


def render(report: AuditReport) -> str:
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
