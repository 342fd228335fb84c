"""Render a `Diff` as one self-contained HTML page."""

from __future__ import annotations

from pathlib import Path

from onceproof.reports.diff.model import Diff, Outcome
from onceproof.reports.diff.summary import (
    BAD,
    GOOD,
    OPEN,
    TIMING,
    UNKNOWN,
    amount,
    headline,
    not_listed,
    reasons,
    sections,
    shapes,
    status_groups,
    tone,
)
from onceproof.reports.html.templating import environment, style
from onceproof.reports.runs.links import link
from onceproof.reports.text import storable

_HERE = Path(__file__).parent


def render(diff: Diff, folder: Path) -> str:
    """Return the page as HTML. Its links are relative to `folder`, where it will be written."""
    templates = environment(_HERE / "templates")
    templates.globals |= {
        "amount": amount,
        "status_groups": status_groups,
        "not_listed": not_listed,
        "reasons": reasons,
        "shapes": shapes,
        "mark": _mark,
    }
    page = templates.get_template("diff.html.j2").render(
        diff=diff,
        css=style(_HERE / "diff.css"),
        headline=headline(diff),
        tone=tone(diff),
        comparable=diff.outcome is not Outcome.NOT_COMPARABLE,
        sections=list(sections(diff)),
        timing=TIMING,
        unknown=UNKNOWN,
        pages={
            letter: link(Path(which.page), folder) if which.page else None
            for letter, which in (("A", diff.a), ("B", diff.b))
        },
    )
    return storable(page)


def _mark(became: str) -> str:
    if became in BAD:
        return "bad"
    if became in GOOD:
        return "good"
    return "open" if became in OPEN else "same"
