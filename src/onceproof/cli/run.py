"""`onceproof run` and `onceproof replay`: their options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.options import (
    Backend,
    Events,
    Folder,
    Junit,
    Out,
    Private,
    Scenarios,
    Secured,
    Seed,
    WebPage,
    With,
)
from onceproof.cli.words import Backend as BackendType
from onceproof.cli.words import secured_backend


def run(
    scenario: Scenarios = None,
    seed: Seed = None,
    out: Out = Path("runs"),
    backend: Backend = "local",
    secured: Secured = False,
    transaction_version: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2,
            help="transaction.version of the cluster (default: that of the brokers); 2 rejects "
            "late requests of an earlier transaction, if the client uses it too.",
        ),
    ] = None,
    private: Private = False,
    versions: With = None,
    web: WebPage = False,
    json_events: Events = None,
    junit: Junit = None,
) -> None:
    """Run scenarios on real brokers, judge them and write their reports.

    Exit code: 0 every claim is as expected; else 1 violated; 2 usage; 3 invalid; 4 stalled;
    5 unknown or unexercised; 130 interrupted.
    """
    backend = secured_backend(backend, secured=secured)
    if private:
        from onceproof.private_network import go_private

        go_private(backend, web=web)
    from onceproof.commands import run as command

    sys.exit(
        command.run(
            scenario or [],
            seed=seed,
            out=out,
            backend=backend,
            transaction_version=transaction_version,
            versions=versions or [],
            web=web,
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
            help="Backend, as for run (default: that of the run).",
        ),
    ] = None,
    json_events: Events = None,
) -> None:
    """Repeat a run from its folder: the same scenario, seed and schedule.

    Exit code: as for run.
    """
    from onceproof.commands import run as command

    sys.exit(command.replay(folder, out=out, backend=backend, events=json_events))
