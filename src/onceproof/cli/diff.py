"""`onceproof diff`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.words import OneOf, of_a_few


def diff(
    a: Annotated[
        Path,
        typer.Argument(
            help="A run folder, its report.json, or what `check --json` wrote: before.",
            autocompletion=completing.run_folders,
        ),
    ],
    b: Annotated[
        Path,
        typer.Argument(help="Another one of them: after.", autocompletion=completing.run_folders),
    ],
    by: Annotated[
        str | None,
        of_a_few(
            OneOf("record", "anomaly"),
            help="record or anomaly: how findings are compared. Without it, record by record "
            "where both runs were sent the same records.",
        ),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="File that gets all of it.")] = None,
    html: Annotated[Path | None, typer.Option(help="File that gets a page.")] = None,
) -> None:
    """Put two runs beside each other: what is new in B, what is gone, what is still there.

    Exit code: 0 nothing is new; 1 something is, or a claim got worse; 5 that cannot be told; 3 the
    two cannot be compared; 2 usage, or a file that cannot be read.
    """
    from onceproof.commands import diff as command

    sys.exit(command.diff(a, b, by=by, json=json, html=html))
