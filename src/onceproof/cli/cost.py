"""`onceproof cost`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli.options import Out
from onceproof.cli.words import ChoiceOf, choice_option


def cost(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="What to measure: librdkafka, java (producers); transform, transform-java, "
            "streams, flink, spark, jms (pipelines). Default: librdkafka java."
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Measure two programs of your own: this one, for instance without exactly-once, "
            "against --other. Placeholders: {bootstrap}, {input} and {output} (topics), which "
            "are needed, {group}, {client_id}, {work}.",
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="The other program, in the same form as --base."),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Value of the inputs of --base and --other; {id} in it is each one's identity, "
            "which must be in the value of its output (default: an order as in verify).",
        ),
    ] = None,
    grid: Annotated[
        str,
        choice_option(
            ChoiceOf("default", "full"),
            help="full: also change the commit interval, size, partitions, linger, acks, records "
            "per transaction and the brokers' transaction version, one at a time (more than an "
            "hour per client).",
        ),
    ] = "default",
    rounds: Annotated[
        int,
        typer.Option(min=10, help="Rounds; in each, every way of writing is measured."),
    ] = 12,
    seconds: Annotated[
        float, typer.Option(min=0.5, help="Usual length of each measurement in a round.")
    ] = 1.0,
    size: Annotated[int, typer.Option(min=100, max=900_000, help="Bytes of a record.")] = 1024,
    partitions: Annotated[int, typer.Option(min=1, help="Partitions of each topic.")] = 3,
    commit_every: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            help="Milliseconds between two commits; the first is in the headline (default: 100; "
            "in the full grid also 10 and 1000). Repeatable.",
        ),
    ] = None,
    commit_records: Annotated[
        int, typer.Option(min=0, help="Commit after so many records instead. [default: by time]")
    ] = 0,
    linger: Annotated[
        int, typer.Option(min=0, help="Milliseconds that a client waits to fill a batch.")
    ] = 5,
    acks: Annotated[
        str, choice_option(ChoiceOf("1", "all"), help="acks of the plain producer.")
    ] = "all",
    delay: Annotated[
        float,
        typer.Option(
            min=1,
            help="Milliseconds by which records are sent late to prove that latencies are "
            "measured; for slow pipelines, about a tenth of their latency.",
        ),
    ] = 20,
    seed: Annotated[int, typer.Option(help="Draws the order within rounds.")] = 1,
    out: Out = Path("runs"),
) -> None:
    """Measure what idempotence, transactions and exactly-once pipelines cost, in this setup.

    The ways to write take turns on three local brokers; a consumer reads what they have committed.
    Exit code: 0 measured; 3 invalid, the instrument is wrong; 5 nothing was resolved; 130
    interrupted.
    """
    from onceproof.commands import cost as command
    from onceproof.harness.cost.grid import INTERVALS
    from onceproof.harness.cost.own import ORDER
    from onceproof.harness.cost.ways import Setup

    intervals = [each / 1000 for each in dict.fromkeys(commit_every or ())]
    usual = INTERVALS if grid == "full" else INTERVALS[:1]
    sys.exit(
        command.cost(
            what or [],
            Setup(
                size=size,
                partitions=partitions,
                commit_every=tuple(intervals or usual),
                commit_records=commit_records,
                linger=linger,
                acks=acks,
                delay=delay / 1000,
            ),
            own=[command for command in (base, other) if command],
            value=value or ORDER,
            rounds=rounds,
            seconds=seconds,
            grid=grid == "full",
            seed=seed,
            out=out,
        )
    )
