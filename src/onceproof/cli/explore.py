"""`onceproof explore`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli.options import With


def explore(
    subject: Annotated[
        str | None,
        typer.Argument(help="What to explore; without it, the subjects are listed."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the journal and the page (default: runs/explore-SUBJECT, with chosen "
            "versions behind it). With the same folder, an interrupted exploration continues."
        ),
    ] = None,
    transactions: Annotated[
        int, typer.Option(min=1, help="Number of transactions in a trial, or of single records.")
    ] = 5,
    records: Annotated[int, typer.Option(min=1, help="Number of records in a transaction.")] = 3,
    pairs: Annotated[
        bool, typer.Option("--pairs/--no-pairs", help="Try pairs of faults after the singles.")
    ] = True,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Stop after this number of trials.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0, metavar="MINUTES", help="Stop after this time.")
    ] = None,
    shard: Annotated[
        str,
        typer.Option(metavar="I/N", help="Explore the I-th of N shares, on one of N machines."),
    ] = "1/1",
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="Write one page about the shards in these folders. Repeatable."
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="FAULTS", help="Repeat one trial, named as in the output, five times."
        ),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Repeat the smallest case of each violation, from the cases.json of an earlier "
            "exploration, and tell which are gone.",
        ),
    ] = None,
    versions: With = None,
    lanes: Annotated[int, typer.Option(min=1, help="Number of trials that run side by side.")] = 6,
    seed: Annotated[
        int, typer.Option(help="Decides which pairs that are assumed independent are tried.")
    ] = 1,
) -> None:
    """Try every fault at every message of a client, then the pairs that matter.

    Trials run side by side on one cluster, each with its own topic. The output says how many faults
    were hit, held or violated, which were missed, and the smallest case of each violation.

    Exit code: 0 everything was tried and holds; 1 violated; 2 usage; 3 trials cannot be trusted;
    4 a client never ended; 5 something was missed, or is left; 130 interrupted.
    """
    from onceproof.commands import explore as command

    if merge:
        sys.exit(command.merge(merge, out=out))
    if cases and (only or subject is None):
        wrong = "either --only or --cases" if only else "a subject with --cases"
        raise typer.BadParameter(f"give {wrong}")
    if subject is None:
        sys.exit(command.list_subjects())
    sys.exit(
        command.explore(
            subject,
            out=out,
            transactions=transactions,
            records=records,
            with_pairs=pairs,
            trials=trials,
            minutes=time_limit,
            shard=shard,
            only=only,
            cases=cases,
            lanes=lanes,
            versions=versions or [],
            seed=seed,
        )
    )
