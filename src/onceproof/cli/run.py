"""`onceproof run` and `onceproof replay`: their options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.options import Backend, Events, Folder, Junit, Out, Private, Scenarios, Seed
from onceproof.cli.words import Backend as BackendType


def run(
    scenario: Scenarios = None,
    seed: Seed = None,
    out: Out = Path("runs"),
    backend: Backend = "local",
    transaction_version: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2,
            help="Which version of Kafka's transactions the cluster has; 2 refuses what comes late "
            "from an earlier transaction. Without it, the brokers' own.",
        ),
    ] = None,
    private: Private = False,
    json_events: Events = None,
    junit: Junit = None,
) -> None:
    """Run scenarios on real brokers, judge them, write their reports.

    Exit code: 0 every claim is as expected; 1 violated, 3 invalid, 4 stalled, 5 unknown or
    unexercised where something else was expected; 2 usage; 130 interrupted.
    """
    if private:
        from onceproof.private import go_private

        go_private(backend)
    from onceproof.commands import run as command

    sys.exit(
        command.run(
            scenario or [],
            seed=seed,
            out=out,
            backend=backend,
            transaction_version=transaction_version,
            events=json_events,
            junit=junit,
        )
    )


def replay(
    folder: Folder,
    out: Out = Path("runs"),
    backend: Annotated[
        str | None,
        typer.Option(
            parser=BackendType(),
            autocompletion=completing.backends,
            help="As for run; without it, the backend that the run had.",
        ),
    ] = None,
    json_events: Events = None,
) -> None:
    """Run again what a run folder says: its scenario, its seed and the schedule as it was then.

    Exit code: as for run.
    """
    from onceproof.commands import run as command

    sys.exit(command.replay(folder, out=out, backend=backend, events=json_events))
