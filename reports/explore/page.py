"""Render an exploration as one self-contained page."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from onceproof.harness.explore.acts import singles
from onceproof.harness.explore.funnel import Funnel
from onceproof.harness.explore.journal import Known
from onceproof.harness.explore.points import Point, learn
from onceproof.harness.explore.trials import Outcome
from onceproof.reports.explore.diagram import diagram, title
from onceproof.reports.html.templating import environment, policy, style
from onceproof.reports.text import plural, storable

_HERE: Final = Path(__file__).parent
_WORST: Final = ("violated", "stalled", "unknown", "unexercised", "holds")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One act at a point, and what came of it."""

    act: str
    verdict: str
    detail: str
    reaction: str


@dataclass(frozen=True, kw_only=True)
class PointPart:
    """One point with its acts."""

    point: Point
    title: str
    anchor: str
    verdict: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A violation, how often it was repeated, and its smallest case.

    Attributes:
        command: repeats it.
        check: judges its history again, in the folder of the page; empty if that is not kept.
    """

    key: str
    anomalies: str
    repeated: str
    smallest: str
    reason: str
    command: str
    check: str


def render(figures: Funnel, known: Known, *, repeat: Callable[[dict[str, Any], str], str]) -> str:
    """Return the page; `repeat` returns the command that repeats a trial."""
    parts = _points(known)
    css = style(_HERE / "explore.css")
    quiet = known.quiet[0] if known.quiet else ()
    page = (
        environment(_HERE / "templates")
        .get_template("explore.html.j2")
        .render(
            about=known.about,
            figures=figures,
            headline=headline(figures, known.about),
            verdict=verdict(figures),
            parts=parts,
            drawn=diagram(
                quiet,
                {part.point: part.anchor for part in parts},
                {part.point: part.verdict for part in parts},
            ),
            violations=[_violation(key, figures, known, repeat) for key in figures.violations],
            css=css,
            policy=policy(css, None),
        )
    )
    return storable(page)


def headline(figures: Funnel, about: Mapping[str, Any]) -> str:
    """Return the outcome as a sentence."""
    subject, hit = about.get("subject", "the client"), sum(figures.hit.values())
    if figures.violations:
        return f"{plural(len(figures.violations), 'trial')} of {subject} violated its claim"
    if figures.left or figures.missed:
        rest = figures.left + len(figures.missed)
        return f"{subject}: {hit} of {figures.singles} single faults were hit and hold, {rest} not"
    return f"{subject} holds under each of {figures.singles} single faults"


def verdict(figures: Funnel) -> str:
    if figures.violations:
        return "violated"
    if figures.hit.get("stalled"):
        return "stalled"
    return "unexercised" if figures.left or figures.missed else "holds"


def _points(known: Known) -> tuple[PointPart, ...]:
    if not known.quiet:
        return ()
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for entry in known.trials:
        outcomes[entry.key].append(entry.outcome)
    parts = []
    for number, point in enumerate(learn(known.quiet).stable, start=1):
        rows = tuple(
            _row(single.act.name, outcomes.get(single.id, [])) for single in singles([point])
        )
        worst = min((row.verdict for row in rows), key=_WORST.index)
        parts.append(
            PointPart(
                point=point, title=title(point), anchor=f"p{number}", verdict=worst, rows=rows
            )
        )
    return tuple(parts)


def _row(act: str, made: list[Outcome]) -> Row:
    hit = next((outcome for outcome in made if outcome.hit), None)
    if hit is None:
        detail = (
            f"missed {len(made)} times; the last time {made[-1].missed}" if made else "not tried"
        )
        return Row(act=act, verdict="unexercised", detail=detail, reaction="")
    detail = ", ".join(sorted(hit.anomalies)) or (hit.reason if hit.verdict != "holds" else "")
    seen = hit.signature
    return Row(
        act=act,
        verdict=hit.verdict,
        detail=detail,
        reaction=f"{seen.perceived or 'nothing'}; then {' → '.join(seen.after) or 'nothing'}",
    )


def _violation(
    key: str, figures: Funnel, known: Known, repeat: Callable[[dict[str, Any], str], str]
) -> Violation:
    failed, of = figures.confirmed.get(key, (0, 0))
    outcome = next(e.outcome for e in known.trials if e.key == key and e.outcome.violated)
    about = dict(known.about)
    command = repeat(about, key)
    if key in known.shrunk:
        least = known.shrunk[key]
        command = repeat(
            about | {"transactions": least.transactions, "records": least.records}, least.to
        )
    return Violation(
        key=key,
        anomalies=", ".join(figures.violations[key]),
        repeated=f"{failed} of {of} times, alone on a fresh stage" if of else "not repeated yet",
        smallest=figures.shrunk.get(key, ""),
        reason=outcome.reason,
        command=command,
        check=shlex.join(["onceproof", "check", *outcome.kept]) if outcome.kept else "",
    )
