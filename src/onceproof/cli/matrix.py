"""`onceproof matrix`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.options import Events, Junit, Out, With
from onceproof.cli.words import Age, Backend


def matrix(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Run only scenarios with one of these words in their names.",
            autocompletion=completing.scenarios,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run only one or two scenarios of each kind of subject.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of every run.")] = 1,
    out: Out = Path("runs"),
    backend: Annotated[
        list[str] | None,
        typer.Option(
            parser=Backend(own=True),
            autocompletion=completing.backends,
            help="Backend: local or docker (default: both). Repeatable.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of parallel runs (default: by cores and memory)."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Also write the table to this Markdown file.")
    ] = None,
    versions: With = None,
    json_events: Events = None,
    junit: Junit = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            parser=Age(),
            help="Time limit, such as 20m: run the most important scenarios first, and start "
            "none that would end later.",
        ),
    ] = None,
) -> None:
    """Run every scenario on both backends and write one page of all verdicts.

    A run that exists already (same scenario, seed, backend, schedule and code) is not repeated.
    Exit code: the most severe of all runs, as for run; 130 if some were not run.
    """
    from onceproof.commands import matrix as command

    sys.exit(
        command.matrix(
            words or [],
            quick=quick,
            seed=seed,
            out=out,
            backends=backend or ["local", "docker"],
            jobs=jobs,
            markdown=markdown,
            events=json_events,
            junit=junit,
            time_limit=time_limit,
            versions=versions or [],
        )
    )
