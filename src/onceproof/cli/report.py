"""`onceproof report`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="A run folder; or the folder that holds them, such as runs; or many.",
            autocompletion=completing.run_folders,
        ),
    ],
    html: Annotated[
        Path | None,
        typer.Option(help="File that gets a page of all runs, linked to their reports."),
    ] = None,
) -> None:
    """Write the reports of a run folder again; or tell many runs, scenario by scenario.

    Exit code: 0; 2 usage, or no run is there.
    """
    from onceproof.commands import report as command
    from onceproof.interrupts import breaking_off

    with breaking_off("writing reports; each is as it was, or whole. Start again for the rest."):
        found = command.report(folders, html=html)
    sys.exit(found)
