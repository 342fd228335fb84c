"""`onceproof shell`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.words import OneOf, of_a_few


def shell(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A run folder, also of a run that is not over or was broken off; or a history.",
            autocompletion=completing.run_folders,
        ),
    ],
    command: Annotated[
        list[str] | None,
        typer.Option("--command", "-c", help="A question instead of a prompt. Repeatable."),
    ] = None,
    format_: Annotated[
        str,
        of_a_few(
            OneOf("table", "csv", "json"),
            "--format",
            help="table, csv or json.",
        ),
    ] = "table",
) -> None:
    """Ask a run's tables in SQL (DuckDB's); nothing of the run is changed.

    The tables are those of docs/reference/history.md, with the claims and findings of the report,
    and whatever the checkers derive. Without -c there is a prompt: `.tables`, `.help`.

    Exit code: 0; 2 a question that cannot be answered, or a history that cannot be read.
    """
    from onceproof.commands import shell as commands

    sys.exit(commands.shell(folder, command or [], format_=format_))
