"""`onceproof list`: its options."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from onceproof.cli import completing


def list_(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="List only scenarios with one of these words in their names.",
            autocompletion=completing.scenarios,
        ),
    ] = None,
) -> None:
    """List the scenarios: subject, faults, requirements, claims and expected verdicts."""
    from onceproof.commands import list as command

    sys.exit(command.list_scenarios(words or []))
