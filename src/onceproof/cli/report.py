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
            help="Run folders, or a folder that contains run folders, such as runs.",
            autocompletion=completing.run_folders,
        ),
    ],
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page of all runs to this file, with links to their reports."),
    ] = None,
) -> None:
    """Rewrite the report of a run folder, or summarize many runs by scenario.

    Exit code: 0; 2 usage, or no run was found.
    """
    from onceproof.commands import report as command
    from onceproof.interrupts import breaking_off

    with breaking_off("writing reports; each is unchanged or complete. For the rest, start again."):
        found = command.report(folders, html=html)
    sys.exit(found)
