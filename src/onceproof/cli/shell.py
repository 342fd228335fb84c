"""`onceproof shell`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.words import ChoiceOf, choice_option


def shell(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A run folder, also of an unfinished or interrupted run, or a history.",
            autocompletion=completing.run_folders,
        ),
    ],
    command: Annotated[
        list[str] | None,
        typer.Option("--command", "-c", help="Run this SQL and exit. Repeatable."),
    ] = None,
    format_: Annotated[
        str,
        choice_option(
            ChoiceOf("table", "csv", "json"),
            "--format",
            help="Output format: table, csv or json.",
        ),
    ] = "table",
) -> None:
    """Query the tables of a run in SQL (DuckDB); the run is not changed.

    The tables are those of docs/reference/history.md, the claims and findings of the report, and
    the relations that the checkers derive. Without -c it is a prompt: try `.tables` and `.help`.

    Exit code: 0; 2 a query that failed, or a history that cannot be read.
    """
    from onceproof.commands import shell as commands

    sys.exit(commands.shell(folder, command or [], format_=format_))
