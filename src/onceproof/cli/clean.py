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
        typer.Option(parser=Age(), help="Run folders that began before that: 7d, 12h, 2w."),
    ] = None,
    keep: Annotated[
        int | None, typer.Option(min=0, help="All run folders but so many of the newest.")
    ] = None,
    expected_only: Annotated[
        bool,
        typer.Option(
            "--expected-only", help="Only run folders in which every claim was as expected."
        ),
    ] = False,
    downloads: Annotated[
        bool,
        typer.Option("--downloads", help="What was downloaded or built for all runs, as well."),
    ] = False,
    out: Out = Path("runs"),
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it; else only say what, and how much.")
    ] = False,
) -> None:
    """Remove old run folders, and what runs left whose harness was killed outright.

    Only what is provably ours: a run folder that its own record names and in which nothing of
    anybody else lies, processes and containers with a dead run's mark. Of run folders those go that
    fit every option that is given; without one, none.

    Exit code: 0; 3 something could not be removed.
    """
    from onceproof.cleaning.runs import Wish
    from onceproof.commands import clean as command

    wish = Wish(older_than=older_than, keep=keep, expected_only=expected_only)
    sys.exit(command.clean(out, wish, downloads=downloads, yes=yes))
