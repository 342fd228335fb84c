"""`onceproof clean`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli.options import Out
from onceproof.cli.words import Age


def clean(
    older_than: Annotated[
        float | None,
        typer.Option(parser=Age(), help="Remove run folders older than this: 7d, 12h, 2w."),
    ] = None,
    keep: Annotated[
        int | None, typer.Option(min=0, help="Keep this many of the newest run folders.")
    ] = None,
    expected_only: Annotated[
        bool,
        typer.Option(
            "--expected-only", help="Remove only runs in which every claim was as expected."
        ),
    ] = False,
    downloads: Annotated[
        bool,
        typer.Option("--downloads", help="Also remove cached downloads and builds."),
    ] = False,
    out: Out = Path("runs"),
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove; without it, only list what would be removed.")
    ] = False,
) -> None:
    """Remove old run folders, and what killed runs left behind.

    It removes only what is provably onceproof's: run folders that hold nothing else, and processes
    and containers marked by a run that is dead. A run folder is removed if it matches every option
    given; without options none is.

    Exit code: 0; 3 something could not be removed.
    """
    from onceproof.cleaning.runs import Selection
    from onceproof.commands import clean as command

    selection = Selection(older_than=older_than, keep=keep, expected_only=expected_only)
    sys.exit(command.clean(out, selection, downloads=downloads, yes=yes))
