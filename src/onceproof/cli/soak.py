"""`onceproof soak`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli.options import Backend, Events, Out, Scenarios, With


def soak(
    scenario: Scenarios = None,
    runs: Annotated[
        int, typer.Option(min=0, help="Number of seeds; 0 runs until interrupted.")
    ] = 10,
    seed: Annotated[int, typer.Option(help="First seed; each run takes the next.")] = 1,
    out: Out = Path("runs"),
    backend: Backend = "local",
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Keep the run folders of runs that were as expected.")
    ] = False,
    free: Annotated[
        float, typer.Option(min=0, help="Stop when the disk has less free space than this, in GiB.")
    ] = 5.0,
    versions: With = None,
    json_events: Events = None,
) -> None:
    """Repeat scenarios with new seeds, keep unexpected runs, and watch for resource leaks.

    It ends with a table of verdicts by seed, subject and claim. Exit code: as for run; 3 if it
    stopped because the disk ran low, or because memory, processes, threads or open files grew.
    """
    from onceproof.commands import soak as command

    sys.exit(
        command.soak(
            scenario or [],
            runs=runs,
            seed=seed,
            out=out,
            backend=backend,
            keep_all=keep_all,
            least_free=round(free * 2**30),
            versions=versions or [],
            events=json_events,
        )
    )
