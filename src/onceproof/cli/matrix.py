"""`onceproof matrix`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.options import Events, Junit, Out
from onceproof.cli.words import Age, Backend


def matrix(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Only scenarios with one of these words in their names.",
            autocompletion=completing.scenarios,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only one or two of each family of subjects.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of all runs.")] = 1,
    out: Out = Path("runs"),
    backend: Annotated[
        list[str] | None,
        typer.Option(
            parser=Backend(own=True),
            autocompletion=completing.backends,
            help="local or docker. Repeatable; without any, both.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="How many runs at a time; without it, by cores and memory."),
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="File that gets the table, too.")] = None,
    json_events: Events = None,
    junit: Junit = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            parser=Age(),
            help="Such as 20m: the most telling scenarios first, and none that would end later.",
        ),
    ] = None,
) -> None:
    """Run every scenario on both backends and write one page: subjects × faults → verdicts.

    A run that is there already (same scenario, seed, backend, schedule and code) is not made again.
    Exit code: as for run, of what matters most; 130 if something was left to run.
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
        )
    )
