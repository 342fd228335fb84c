"""`onceproof diff`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.words import ChoiceOf, choice_option


def diff(
    a: Annotated[
        Path,
        typer.Argument(
            help="The earlier run: a run folder, its report.json, or a file from `check --json`.",
            autocompletion=completing.run_folders,
        ),
    ],
    b: Annotated[
        Path,
        typer.Argument(
            help="The later run, in one of the same forms.", autocompletion=completing.run_folders
        ),
    ],
    by: Annotated[
        str | None,
        choice_option(
            ChoiceOf("record", "anomaly"),
            help="Compare findings by record or by anomaly (default: by record if both runs "
            "sent the same records).",
        ),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write the comparison to this file as JSON.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the comparison to this file as an HTML page.")
    ] = None,
) -> None:
    """Compare two runs: which findings are new in B, which are gone, which remain.

    Two measurements of `onceproof cost`: which figures changed.

    Exit code: 0 nothing is new; 1 a finding is new, or a claim or cost got worse; 2 usage, or a
    file that cannot be read; 3 the two cannot be compared; 5 unknown.
    """
    from onceproof.commands import diff as command

    sys.exit(command.diff(a, b, by=by, json=json, html=html))
