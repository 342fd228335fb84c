"""The page of a matrix: one HTML file that needs nothing but itself, and links the reports."""

from __future__ import annotations

from pathlib import Path

from onceproof.reports.html.templating import environment, style
from onceproof.reports.matrix.markdown import markdown
from onceproof.reports.matrix.model import Matrix, State
from onceproof.reports.matrix.summary import headline, tiles, tone, unexpected
from onceproof.reports.matrix.table import alike, table
from onceproof.reports.text import storable
from onceproof.reports.write import write_whole

HTML_FILE, MARKDOWN_FILE = "matrix.html", "matrix.md"
_HERE = Path(__file__).parent


def render(matrix: Matrix) -> str:
    """The page."""
    templates = environment(_HERE / "templates")
    templates.globals |= {"alike": alike}
    page = templates.get_template("matrix.html.j2").render(
        matrix=matrix,
        css=style(_HERE / "matrix.css"),
        headline=headline(matrix),
        tone=tone(matrix),
        tiles=tiles(matrix),
        table=table(matrix.trials),
        unexpected=unexpected(matrix.trials),
        waiting=matrix.all_of(State.WAITING),
        left_out=matrix.all_of(State.LEFT_OUT),
        reused=matrix.all_of(State.REUSED),
        backends=len([b for b in matrix.backends if b.missing is None]),
    )
    return storable(page)


def write(folder: Path, matrix: Matrix) -> tuple[Path, Path]:
    """Write the page and the table as Markdown; returns where they lie, the page first.

    Each is there whole or not at all, because it is written anew after every run.
    """
    page, table = folder / HTML_FILE, folder / MARKDOWN_FILE
    write_whole(table, markdown(matrix))
    write_whole(page, render(matrix))
    return page, table
