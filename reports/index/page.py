"""The page of many runs: one file that needs nothing but itself, and links the reports.

Its one script only hides rows, and the page says by its sum that no other
may run. Without it the whole table is there.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markupsafe import Markup

from onceproof.checkers.model import Verdict
from onceproof.reports.html.facts import Tile
from onceproof.reports.html.templating import environment, style
from onceproof.reports.index.flaky import DEFINITION
from onceproof.reports.index.links import link
from onceproof.reports.index.model import Found, Run, State
from onceproof.reports.index.strip import STEP, strip
from onceproof.reports.index.table import Row, headline, rows
from onceproof.reports.text import cut, number, storable

_HERE: Final = Path(__file__).parent
_KINDS: Final = ("crash", "partition", "timeout")
NO_FAULT: Final = "none"


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What can be chosen in the filter: whatever is in the table."""

    subjects: tuple[str, ...]
    kinds: tuple[str, ...]
    faults: tuple[str, ...]
    verdicts: tuple[str, ...]


def render(found: Found, folder: Path) -> str:
    """The page.

    Args:
        found: the runs.
        folder: where the page will lie, from where it links their reports.
    """
    templates = environment(_HERE / "templates")
    templates.globals |= {
        "cut": cut,
        "strip": strip,
        "STEP": STEP,
        "State": State,
        "page_of": lambda run: _page(run, folder),
        "faults_of": _faults,
    }
    told = rows(found.runs)
    script = (_HERE / "filter.js").read_text(encoding="utf-8")
    page = templates.get_template("index.html.j2").render(
        css=style(_HERE / "index.css"),
        script=Markup(script),
        script_sum=_sum(script),
        rows=told,
        unread=found.unread,
        headline=headline(told, len(found.unread)),
        tone=_tone(told, found),
        tiles=_tiles(told, found),
        choices=_choices(told),
        definition=DEFINITION,
    )
    return storable(page)


def _sum(script: str) -> str:
    """What a policy calls a script that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _page(run: Run, folder: Path) -> str | None:
    return None if run.page is None else link(run.page, folder)


def _faults(row: Row) -> tuple[str, ...]:
    """What a row is found by in the choice of faults: kinds and names."""
    kinds = row.kinds or (NO_FAULT,)
    return (*(f"kind:{kind}" for kind in kinds), *(f"name:{name}" for name in row.faults))


def _tone(told: Sequence[Row], found: Found) -> str:
    """The verdict whose colour the head of the page has."""
    states = {run.state for run in found.runs}
    if State.UNEXPECTED in states:
        return Verdict.VIOLATED
    odd = found.unread or any(row.flaky for row in told) or states - {State.EXPECTED}
    return Verdict.UNKNOWN if odd or not states else Verdict.HOLDS


def _tiles(told: Sequence[Row], found: Found) -> tuple[Tile, ...]:
    """The figures at the head of the page."""
    states = [run.state for run in found.runs]
    newest = [row.newest.state for row in told]
    return (
        Tile(value=number(len(states)), label="runs"),
        Tile(value=number(len(told)), label="scenarios, each backend by itself"),
        Tile(
            value=f"{number(states.count(State.EXPECTED))} of {number(len(states))}",
            label="runs as expected",
        ),
        Tile(
            value=number(newest.count(State.UNEXPECTED)),
            label="scenarios whose newest run is not as expected",
        ),
        Tile(value=number(sum(row.flaky is not None for row in told)), label="scenarios flaky"),
        Tile(value=number(len(found.unread)), label="folders that tell nothing"),
    )


def _choices(told: Sequence[Row]) -> Choices:
    there = {kind for row in told for kind in row.kinds or (NO_FAULT,)}
    others = sorted(there - {*_KINDS, NO_FAULT})
    verdicts = {verdict for row in told for verdict in row.verdicts}
    return Choices(
        subjects=_sorted(row.newest.subject for row in told),
        kinds=tuple(kind for kind in (*_KINDS, *others, NO_FAULT) if kind in there),
        faults=_sorted(name for row in told for name in row.faults),
        verdicts=tuple(verdict for verdict in Verdict if verdict in verdicts),
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
