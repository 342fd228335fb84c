"""Render the report of a measurement as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from onceproof.reports.cost.chart import curves, over_setting
from onceproof.reports.cost.model import ComparisonPart, CostReport, FigurePart
from onceproof.reports.cost.series import all_series
from onceproof.reports.cost.words import MAIN_SHARE, described, proof, value
from onceproof.reports.html.templating import environment, policy, style
from onceproof.reports.text import storable

_HERE: Final = Path(__file__).parent
_TONES: Final = {"right": "holds", "wrong": "invalid", "not resolved": "unknown"}
"""The verdict whose colour and sign a proof gets."""


def render(report: CostReport) -> str:
    templates = environment(_HERE / "templates")
    templates.globals |= {
        "tone": _TONES.__getitem__,
        "described": described,
        "value": value,
        "proof": proof,
        "curves": curves,
        "over_setting": over_setting,
        "shares": _shares,
        "rows": _rows,
        "main_share": MAIN_SHARE,
        "base": lambda part: next(part.pairs())[0],
    }
    css = style(_HERE / "cost.css")
    page = templates.get_template("cost.html.j2").render(
        report=report,
        css=css,
        policy=policy(css, None),
        tone_of_all=_tone(report),
        series=list(all_series(report)),
    )
    return storable(page)


def _tone(report: CostReport) -> str:
    if not all(part.valid for part in report.comparisons):
        return "invalid"
    told = any(figure.resolved for part in report.comparisons for figure in part.figures)
    return "holds" if told else "unknown"


def _shares(part: ComparisonPart) -> list[float]:
    return sorted({curve.share for way in part.ways for curve in way.curves if curve.share > 0.1})


def _rows(part: ComparisonPart) -> list[tuple[FigurePart, list[FigurePart | None]]]:
    """Return what was measured, by the first pair's figure, and the figures of all pairs."""
    pairs = [(base, other) for base, other, _ in part.pairs()]
    return [
        (first, [part.figure(*pair, first.what, first.share) for pair in pairs])
        for _, _, figures in list(part.pairs())[:1]
        for first in figures
    ]
