"""`onceproof check`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.arrow_alone import import_arrow_alone
from onceproof.cli import completing
from onceproof.cli.words import ChoiceOf, choice_option


def check(
    path: Annotated[
        str,
        typer.Argument(
            help="A run folder, or a history recorded elsewhere; also a URI with --engine spark.",
            autocompletion=completing.run_folders,
        ),
    ],
    format_: Annotated[
        str | None,
        choice_option(
            ChoiceOf("run", "jepsen", "jsonl", "parquet"),
            "--format",
            help="Format of the history: run, jepsen, jsonl or parquet (default: detected).",
        ),
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(
            help="Claim about a foreign history, such as exactly-once:TOPIC or "
            '"exactly-once:TOPIC->SINK@VIEW" (default: all that its tables allow). Repeatable.'
        ),
    ] = None,
    engine: Annotated[
        str,
        choice_option(
            ChoiceOf("duckdb", "spark"),
            help="Query engine: duckdb or spark.",
        ),
    ] = "duckdb",
    master: Annotated[str | None, typer.Option(help="Spark master, such as local[4].")] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory limit of the engine, such as 2GB (default: starts low and grows if "
            "needed)."
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Number of DuckDB threads.")] = None,
    exact: Annotated[
        bool, typer.Option(help="Compare every record in full, without a hash comparison first.")
    ] = False,
    isolation: Annotated[
        str | None,
        choice_option(
            ChoiceOf("read_committed", "read_uncommitted"),
            help="Jepsen histories: isolation level of the readers (default: read_committed).",
        ),
    ] = None,
    transactions: Annotated[
        bool | None,
        typer.Option(
            help="Jepsen histories: whether clients used transactions (default: detected)."
        ),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the judgement to this file.")] = None,
    unsealed: Annotated[
        bool,
        typer.Option(
            "--unsealed",
            help="Judge a run that was changed after it was sealed; the report says so.",
        ),
    ] = False,
) -> None:
    """Judge a run folder again, offline, and rewrite its report; or judge a foreign history.

    Exit code: 0 every claim holds, or is as expected; 1 violated; 2 usage, or a history that
    cannot be read; 3 invalid; 4 stalled; 5 unknown or unexercised.
    """
    if engine != "spark":  # which needs numpy
        import_arrow_alone()
    from onceproof.commands import check as command
    from onceproof.commands.check_options import BadOption, reader_options, settings
    from onceproof.interrupts import breaking_off

    try:
        limits = settings(engine=engine, master=master, memory=memory, threads=threads, exact=exact)
        options = reader_options(isolation=isolation, transactions=transactions)
    except BadOption as error:
        print(f"onceproof: {error}.", file=sys.stderr)
        sys.exit(command.USAGE)
    with breaking_off(f"judging {path}; the history is unchanged. For a verdict, start again."):
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
