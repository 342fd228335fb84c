"""`onceproof soak`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli.options import Backend, Events, Out, Scenarios


def soak(
    scenario: Scenarios = None,
    runs: Annotated[int, typer.Option(min=0, help="How many seeds; 0: until told to stop.")] = 10,
    seed: Annotated[int, typer.Option(help="The first seed; the others follow it.")] = 1,
    out: Out = Path("runs"),
    backend: Backend = "local",
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Keep the run folders of what was as expected, too.")
    ] = False,
    free: Annotated[
        float, typer.Option(min=0, help="Stop when the disk has fewer GiB free than this.")
    ] = 5.0,
    json_events: Events = None,
) -> None:
    """Repeat scenarios with new seeds; keep what was unexpected; stop when anything of us grows.

    Ends with a table seed × subject × claim → verdict. Exit code: as for run; 3 if it was stopped
    because the disk ran low, or because its memory, processes, threads or open files grew.
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
            events=json_events,
        )
    )
