"""`onceproof audit`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.options import (
    DeadLetterIdentity,
    DeadLetters,
    Decode,
    EffectKey,
    Effects,
    Expect,
    Identity,
    Ignore,
    Out,
)
from onceproof.cli.words import ChoiceOf, choice_option


def audit(
    bootstrap: Annotated[
        str | None, typer.Option(help="Brokers of the cluster, such as kafka-1:9092,kafka-2:9092.")
    ] = None,
    input_: Annotated[
        str | None, typer.Option("--input", help="The topic that the pipeline reads.")
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=completing.outputs,
            help="Where the pipeline writes: TOPIC, TOPIC@read_uncommitted, or a kind and a place, "
            "such as postgres:TABLE. Repeatable.",
        ),
    ] = None,
    identity: Identity = "json:$.order_id",
    input_identity: Annotated[
        str | None,
        typer.Option(help="Where an input record carries its identity (default: --identity)."),
    ] = None,
    from_: Annotated[
        str,
        typer.Option(
            "--from",
            help="Start of the inputs to judge: a time such as 2026-11-24T22:00 (local; or with "
            "Z), offsets such as 0:1200,1:1180, or earliest.",
        ),
    ] = "earliest",
    to: Annotated[
        str | None,
        typer.Option(
            help="End of the inputs to judge, in the same forms, or latest (default: as far as "
            "the pipeline has progressed)."
        ),
    ] = None,
    last: Annotated[
        int | None,
        typer.Option(min=1, help="Judge this many of the last inputs, instead of --from."),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="The pipeline's consumer group: an input that it committed without an effect is "
            "lost."
        ),
    ] = None,
    settle: Annotated[
        float,
        typer.Option(
            min=0, metavar="SECONDS", help="Maximum time between an input and its effect."
        ),
    ] = 600.0,
    effects: Effects = "1",
    effect_key: EffectKey = None,
    expect: Expect = None,
    ignore: Ignore = None,
    decode: Decode = None,
    dead_letters: DeadLetters = None,
    dead_letter_identity: DeadLetterIdentity = None,
    claim: Annotated[
        list[str] | None,
        choice_option(
            ChoiceOf("exactly-once", "at-least-once", "at-most-once"),
            help="Claim to judge: exactly-once (default), at-least-once or at-most-once. "
            "Repeatable.",
        ),
    ] = None,
    ignore_nameless: Annotated[
        bool,
        typer.Option(
            "--ignore-nameless",
            help="Ignore outputs without an identity; the report counts them.",
        ),
    ] = False,
    database: Annotated[
        str,
        typer.Option(
            help="How to connect to the database of postgres: outputs. Put passwords into "
            "ONCEPROOF_AUDIT_DATABASE or a password file, not here."
        ),
    ] = "",
    kafka_properties: Annotated[
        Path | None,
        typer.Option(
            help="File with librdkafka properties for TLS and credentials, readable only by you "
            "(or set them in the environment, such as ONCEPROOF_KAFKA_SASL_PASSWORD)."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of reader processes.")] = 2,
    engine: Annotated[
        str,
        choice_option(
            ChoiceOf("duckdb", "spark"), help="Query engine that judges: duckdb or spark."
        ),
    ] = "duckdb",
    master: Annotated[str | None, typer.Option(help="Spark master, such as local[4].")] = None,
    memory: Annotated[
        str, typer.Option(help="Memory limit of DuckDB and of the engine, such as 2GB.")
    ] = "2GB",
    resume: Annotated[
        Path | None,
        typer.Option(help="Resume the audit in this folder, with its original options."),
    ] = None,
    out: Out = Path("runs"),
) -> None:
    """Read a real cluster as it is, and list what was lost, duplicated or wrong in a window.

    Nothing is written to the cluster and no group is joined.

    Exit code: 0 nothing was found; 1 something was; 2 usage; 3 the cluster or an output cannot be
    read; 5 unknown; 130 interrupted.
    """
    from onceproof.commands import audit as command
    from onceproof.commands.check_options import BadOption, settings

    try:
        limits = settings(engine=engine, master=master, memory=memory, threads=None, exact=False)
    except BadOption as error:
        print(f"onceproof: {error}.", file=sys.stderr)
        sys.exit(command.USAGE)
    if resume is not None:
        sys.exit(
            command.resume(resume, settings=limits, database=database, properties=kafka_properties)
        )
    if bootstrap is None or input_ is None or not output:
        wanted = "--bootstrap, --input and --output, or --resume"
        print(f"onceproof audit: expected {wanted}.", file=sys.stderr)
        sys.exit(command.USAGE)
    sys.exit(
        command.audit(
            command.AuditOptions(
                bootstrap=bootstrap,
                input=input_,
                outputs=tuple(output),
                identity=identity,
                input_identity=input_identity,
                dead_letters=dead_letters,
                dead_letter_identity=dead_letter_identity,
                effects=effects,
                effect_key=effect_key,
                expects=tuple(expect or ()),
                ignored=tuple(ignore or ()),
                decodes=tuple(decode or ()),
                from_=from_,
                to=to,
                last=last,
                group=group,
                settle=settle,
                claims=tuple(claim or ["exactly-once"]),
                ignore_nameless=ignore_nameless,
                workers=workers,
            ),
            out=out,
            settings=limits,
            database=database,
            properties=kafka_properties,
        )
    )
