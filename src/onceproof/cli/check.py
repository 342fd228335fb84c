"""`onceproof check`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.words import OneOf, of_a_few


def check(
    path: Annotated[
        str,
        typer.Argument(
            help="A run folder, or a history that was recorded elsewhere; with Spark also a URI.",
            autocompletion=completing.run_folders,
        ),
    ],
    format_: Annotated[
        str | None,
        of_a_few(
            OneOf("run", "jepsen", "jsonl", "parquet"),
            "--format",
            help="run, jepsen, jsonl or parquet; without it, by the files there.",
        ),
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(
            help="What to judge a foreign history by: exactly-once:TOPIC, or "
            '"exactly-once:TOPIC->SINK@VIEW". Repeatable; without any, all that it has tables for.'
        ),
    ] = None,
    engine: Annotated[
        str,
        of_a_few(
            OneOf("duckdb", "spark"),
            help="duckdb or spark.",
        ),
    ] = "duckdb",
    master: Annotated[str | None, typer.Option(help="Spark's master, e.g. local[4].")] = None,
    memory: Annotated[str | None, typer.Option(help="What the engine may hold, e.g. 2GB.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="DuckDB's threads.")] = None,
    exact: Annotated[
        bool, typer.Option(help="Compare everything in full, without a cheap look first.")
    ] = False,
    isolation: Annotated[
        str | None,
        of_a_few(
            OneOf("read_committed", "read_uncommitted"),
            help="Jepsen: read_committed (default) or read_uncommitted.",
        ),
    ] = None,
    transactions: Annotated[
        bool | None, typer.Option(help="Jepsen: whether clients used any; else it is found out.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="File that gets the judgement.")] = None,
    unsealed: Annotated[
        bool,
        typer.Option(
            "--unsealed",
            help="Judge a run also if it was changed since it was sealed; the report says so.",
        ),
    ] = False,
) -> None:
    """Judge a run folder again, offline, and write its report anew; or judge a foreign history.

    Exit code: 0 every claim holds, or is as expected; 1 violated, 3 invalid, 4 stalled, 5 unknown
    or unexercised; 2 usage, or a history that cannot be read.
    """
    from onceproof.commands import check as command
    from onceproof.commands.check_options import BadOption, reader_options, settings
    from onceproof.interrupts import breaking_off

    try:
        limits = settings(engine=engine, master=master, memory=memory, threads=threads, exact=exact)
        options = reader_options(isolation=isolation, transactions=transactions)
    except BadOption as error:
        print(f"onceproof: {error}.", file=sys.stderr)
        sys.exit(command.USAGE)
    with breaking_off(f"judging {path}; the history is as it was. Start again for a verdict."):
        found = command.check(
            path,
            format_=format_,
            claims=claim or (),
            settings=limits,
            json=json,
            unsealed=unsealed,
            options=options,
        )
    sys.exit(found)
