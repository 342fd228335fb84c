"""Render the index and the matrix, each as one self-contained page that links the reports.

The index has one script, which filters rows. The page's policy allows it by its hash, and without
it the whole table is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markupsafe import Markup

from onceproof.checkers.model import Verdict
from onceproof.reports.html.facts import Tile
from onceproof.reports.html.templating import environment, policy, script, style
from onceproof.reports.runs import summary
from onceproof.reports.runs.claims import alike
from onceproof.reports.runs.flaky import DEFINITION
from onceproof.reports.runs.grid import table
from onceproof.reports.runs.links import link
from onceproof.reports.runs.markdown import markdown
from onceproof.reports.runs.rows import Row, headline, rows
from onceproof.reports.runs.run import Found, Run, RunState
from onceproof.reports.runs.strip import STEP, strip
from onceproof.reports.runs.trial import Matrix, State
from onceproof.reports.text import cut, number, storable
from onceproof.reports.write import write_whole

HTML_FILE, MARKDOWN_FILE = "matrix.html", "matrix.md"
_HERE: Final = Path(__file__).parent
_KINDS: Final = ("crash", "partition", "timeout")
NO_FAULT: Final = "none"


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The options of the filter, taken from the table."""

    subjects: tuple[str, ...]
    kinds: tuple[str, ...]
    faults: tuple[str, ...]
    verdicts: tuple[str, ...]


def index_page(found: Found, folder: Path) -> str:
    """Return the index page. Its links are relative to `folder`, where it will be written."""
    scenarios = rows(found.runs)
    return _rendered(
        "index.html.j2",
        script(_HERE / "filter.js"),
        main="runs",
        sections={"runs": "Runs", "unread": "Not in the table", "words": "Terms"},
        headline=headline(scenarios, len(found.unread)),
        tone=_tone(scenarios, found),
        tiles=_tiles(scenarios, found),
        rows=scenarios,
        unread=found.unread,
        choices=_choices(scenarios),
        definition=DEFINITION,
        cut=cut,
        strip=strip,
        STEP=STEP,
        RunState=RunState,
        page_of=lambda run: _page(run, folder),
        faults_of=_faults,
    )


def matrix_page(matrix: Matrix) -> str:
    return _rendered(
        "matrix.html.j2",
        main="matrix",
        sections={
            "unexpected": "Not as expected",
            "matrix": "Matrix",
            "not-run": "Not run",
            "repeat": "Repeat it",
            "environment": "Environment",
        },
        headline=summary.headline(matrix),
        tone=summary.tone(matrix),
        tiles=summary.tiles(matrix),
        matrix=matrix,
        table=table(matrix.trials),
        unexpected=summary.unexpected(matrix.trials),
        waiting=matrix.all_of(State.WAITING),
        left_out=matrix.all_of(State.LEFT_OUT),
        reused=matrix.all_of(State.REUSED),
        backends=len([b for b in matrix.backends if b.missing is None]),
        alike=alike,
    )


def write_matrix(folder: Path, matrix: Matrix) -> tuple[Path, Path]:
    """Write the page and the Markdown table atomically, and return their paths in this order."""
    page, table = folder / HTML_FILE, folder / MARKDOWN_FILE
    write_whole(table, markdown(matrix))
    write_whole(page, matrix_page(matrix))
    return page, table


def _rendered(template: str, code: Markup | None = None, **names: object) -> str:
    """Render a template within the frame that both pages share."""
    css = style(_HERE / "runs.css")
    templates = environment(_HERE / "templates")
    # Macros see only globals.
    templates.globals |= {**names, "css": css, "code": code, "policy": policy(css, code)}
    return storable(templates.get_template(template).render())


def _page(run: Run, folder: Path) -> str | None:
    return None if run.page is None else link(run.page, folder)


def _faults(row: Row) -> tuple[str, ...]:
    """Return the values by which the fault filter finds a row: kinds and names."""
    kinds = row.kinds or (NO_FAULT,)
    return (*(f"kind:{kind}" for kind in kinds), *(f"name:{name}" for name in row.faults))


def _tone(scenarios: Sequence[Row], found: Found) -> str:
    states = {run.state for run in found.runs}
    if RunState.UNEXPECTED in states:
        return Verdict.VIOLATED
    unclear = found.unread or any(row.flaky for row in scenarios) or states - {RunState.EXPECTED}
    return Verdict.UNKNOWN if unclear or not states else Verdict.HOLDS


def _tiles(scenarios: Sequence[Row], found: Found) -> tuple[Tile, ...]:
    states = [run.state for run in found.runs]
    newest = [row.newest.state for row in scenarios]
    return (
        Tile(value=number(len(states)), label="runs"),
        Tile(value=number(len(scenarios)), label="scenarios, counted per backend"),
        Tile(
            value=f"{number(states.count(RunState.EXPECTED))} of {number(len(states))}",
            label="runs as expected",
        ),
        Tile(
            value=number(newest.count(RunState.UNEXPECTED)),
            label="scenarios whose newest run is not as expected",
        ),
        Tile(
            value=number(sum(row.flaky is not None for row in scenarios)), label="scenarios flaky"
        ),
        Tile(value=number(len(found.unread)), label="folders without a readable report"),
    )


def _choices(scenarios: Sequence[Row]) -> Choices:
    present = {kind for row in scenarios for kind in row.kinds or (NO_FAULT,)}
    others = sorted(present - {*_KINDS, NO_FAULT})
    verdicts = {verdict for row in scenarios for verdict in row.verdicts}
    return Choices(
        subjects=_sorted(row.newest.subject for row in scenarios),
        kinds=tuple(kind for kind in (*_KINDS, *others, NO_FAULT) if kind in present),
        faults=_sorted(name for row in scenarios for name in row.faults),
        verdicts=tuple(verdict for verdict in Verdict if verdict in verdicts),
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
