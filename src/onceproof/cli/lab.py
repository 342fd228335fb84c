"""`onceproof lab`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.options import Backend, Out, Private, Secured, Seed, WebPage, With
from onceproof.cli.words import secured_backend


def lab(
    scenario: Annotated[
        str | None,
        typer.Argument(
            help="Scenario whose pipeline, workload and claims to use (default: the flagship).",
            autocompletion=completing.scenarios,
        ),
    ] = None,
    bare: Annotated[
        bool,
        typer.Option(
            "--bare",
            help="Start only the stage, for your own programs: no pipeline, no verdict.",
        ),
    ] = False,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:PARTITIONS]",
            help="With --bare: a topic to create (default: orders:3). Repeatable.",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the lab.")] = "lab",
    records: Annotated[
        int, typer.Option(min=1, help="Maximum number of records to send.")
    ] = 100_000,
    rate: Annotated[int, typer.Option(min=1, help="Records per second.")] = 100,
    seed: Seed = None,
    out: Out = Path("runs"),
    backend: Backend = "local",
    secured: Secured = False,
    private: Private = False,
    versions: With = None,
    web: WebPage = False,
    for_program: Annotated[
        bool,
        typer.Option(
            "--for-program",
            help="Print the lab's address as one line of JSON, and end when standard input is"
            " closed.",
        ),
    ] = False,
) -> None:
    """Start brokers and a pipeline, keep them running while you break them by hand, then judge.

    Exit code: as for `run`; 130 if it ended without a verdict. With --bare: 0 when it was ended,
    3 when the stage failed.
    """
    backend = secured_backend(backend, secured=secured)
    if private:
        from onceproof.private_network import go_private

        go_private(backend, web=web)
    from onceproof.commands import lab as command

    sys.exit(
        command.lab(
            scenario,
            alone=bare,
            topics=topic or [],
            name=name,
            records=records,
            rate=rate,
            seed=seed,
            out=out,
            backend=backend,
            versions=versions or [],
            for_program=for_program,
            private=private,
            web=web,
        )
    )
