"""`onceproof cost`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli.options import Out


def cost(
    client: Annotated[
        list[str] | None,
        typer.Option(help="Client to measure: librdkafka or java (default: both). Repeatable."),
    ] = None,
    rounds: Annotated[
        int,
        typer.Option(min=10, help="Rounds; in each, every way of writing is measured."),
    ] = 10,
    seconds: Annotated[
        float, typer.Option(min=0.5, help="Length of each measurement in a round.")
    ] = 1.0,
    size: Annotated[int, typer.Option(min=100, max=900_000, help="Bytes of a record.")] = 1024,
    partitions: Annotated[int, typer.Option(min=1, help="Partitions of each topic.")] = 3,
    commit_every: Annotated[
        int, typer.Option(min=1, help="Milliseconds between two commits of a transaction.")
    ] = 100,
    linger: Annotated[
        int, typer.Option(min=0, help="Milliseconds that a client waits to fill a batch.")
    ] = 5,
    seed: Annotated[int, typer.Option(help="Draws the order within rounds.")] = 1,
    out: Out = Path("runs"),
) -> None:
    """Measure what idempotence and transactions cost a producer, in this setup.

    Plain, idempotent and transactional producers take turns on three local brokers; a consumer
    reads what they have committed. Exit code: 0 measured; 3 invalid, the instrument is wrong; 5
    nothing was resolved; 130 interrupted.
    """
    from onceproof.commands import cost as command

    sys.exit(
        command.cost(
            client or [],
            rounds=rounds,
            seconds=seconds,
            size=size,
            partitions=partitions,
            commit_every=commit_every / 1000,
            linger=linger,
            seed=seed,
            out=out,
        )
    )
