"""`onceproof verify`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.given import given
from onceproof.cli.options import Backend, Events, Junit, Out, Private, Seed
from onceproof.cli.words import OneOf, of_a_few
from onceproof.settings.effective import Effective


def verify(
    ctx: typer.Context,
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND...",
            help="The pipeline's command, behind --. {bootstrap}, {input}, {checkpoint}, {work}, "
            "{database}, {jdbc}, {queues}, {spark_jars}, {kafka_jars} and {queue_jars} in it are "
            "filled in.",
        ),
    ],
    output: Annotated[
        list[str],
        typer.Option(
            help="Where it writes: TOPIC or TOPIC@read_uncommitted, queue:ADDRESS, postgres:TABLE, "
            "parquet:FOLDER, csv:FOLDER, json:FOLDER, delta:FOLDER, iceberg:FOLDER or "
            "command:COMMAND that prints what arrived. Repeatable."
        ),
    ],
    topic: Annotated[
        list[str] | None,
        typer.Option(
            help="Another topic that it needs, made before it starts: brokers make none by "
            "themselves. Repeatable."
        ),
    ] = None,
    input_: Annotated[str, typer.Option("--input", help="The topic that it reads.")] = "orders",
    identity: Annotated[
        str,
        typer.Option(
            help="Where an effect has the identity of its input: json:$.FIELD (also a column), "
            "header:NAME, key or regex:PATTERN."
        ),
    ] = "json:$.order_id",
    effects: Annotated[
        str,
        typer.Option(
            help="How many effects an input has: 1, 3, or FILE.py:FUNCTION that says it of an "
            "input; 0..1 or 0..3 with at-most-once alone."
        ),
    ] = "1",
    effect_key: Annotated[
        str | None,
        typer.Option(
            help="What tells several effects of an input apart; else their content. A function in "
            "--effects then returns the list of what it finds."
        ),
    ] = None,
    dead_letters: Annotated[
        str | None,
        typer.Option(
            help="Where it writes what it cannot process, named as an output: each input must "
            "lead to its effects or to one dead letter."
        ),
    ] = None,
    dead_letter_identity: Annotated[
        str | None,
        typer.Option(help="Where a dead letter has the identity of its input; else --identity."),
    ] = None,
    upserts: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Outputs keep one value for each key, which stands there (json:$.COLUMN, key of a "
            "topic's records): in the end the last input of that key must have left it. An "
            "input's key is that of its record in Kafka.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Records to send: .jsonl, .csv or .parquet; else orders are made up."),
    ] = None,
    data_identity: Annotated[
        str | None, typer.Option(help="Where a record of --data has its identity; else --identity.")
    ] = None,
    data_key: Annotated[
        str | None, typer.Option(help="Where it has its key; else its identity is its key.")
    ] = None,
    records: Annotated[
        int | None, typer.Option(min=1, help="How many records; else all of --data, or 12000.")
    ] = None,
    partitions: Annotated[int, typer.Option(min=3, help="Of the input topic.")] = 3,
    rate: Annotated[
        int, typer.Option(min=1, help="Records per second while faults are at work.")
    ] = 400,
    claim: Annotated[
        list[str] | None,
        of_a_few(
            OneOf("exactly-once", "at-least-once", "at-most-once"),
            help="exactly-once (default), at-least-once, at-most-once. Repeatable.",
        ),
    ] = None,
    preset: Annotated[
        str,
        of_a_few(
            OneOf("gentle", "standard", "brutal"),
            help="How often each hazard of the plan is met: gentle 1, standard 3, brutal 5 times; "
            "brutal also strikes the program while a broker is gone.",
        ),
    ] = "standard",
    fault: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=completing.faults,
            help="Instead of a plan: a fault as `onceproof fault` takes it, such as "
            '"kill-driver after-sink-write". Repeatable; one after the other.',
        ),
    ] = None,
    schedule: Annotated[
        Path | None,
        typer.Option(help="Instead of a plan: a file with a schedule, as run.json has in `plan`."),
    ] = None,
    accept_untested: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HAZARD",
            help="Let a claim hold although this hazard was not met; the report says so in its "
            "title. Repeatable.",
        ),
    ] = None,
    plain_data: Annotated[
        bool,
        typer.Option(
            "--plain-data",
            help="Send no odd records: aborted, larger than usual, without a value or a key, with "
            "several headers of one name.",
        ),
    ] = False,
    settle: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="For how long its outputs may stand still while it goes on; else as long as the "
            "rehearsal has shown.",
        ),
    ] = None,
    rehearsed: Annotated[
        bool,
        typer.Option(
            "--rehearsed",
            help="Reuse what the last rehearsal of this command and data has learned.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Only rehearse: see without faults that all fits, and say what would be tested.",
        ),
    ] = False,
    seed: Seed = None,
    out: Out = Path("runs"),
    backend: Backend = "local",
    private: Private = False,
    json_events: Events = None,
    junit: Junit = None,
) -> None:
    """Put a pipeline of your own on trial, unchanged: its command, its input, its output.

    Exit code: 0 every claim holds; 1 violated, 3 invalid, 4 stalled, 5 unknown or unexercised;
    2 usage; 130 interrupted.
    """
    if private:
        from onceproof.private import go_private

        go_private(backend)
    from onceproof.commands import verify as verifying
    from onceproof.verify.options import VerifyOptions

    sys.exit(
        verifying.verify(
            VerifyOptions(
                command=tuple(command),
                folder=_folder(ctx),
                topic=input_,
                outputs=tuple(output),
                topics=tuple(topic or ()),
                identity=identity,
                effects=effects,
                effect_key=effect_key,
                dead_letters=dead_letters,
                dead_letter_identity=dead_letter_identity,
                upserts=upserts,
                data=data,
                data_identity=data_identity,
                data_key=data_key,
                records=records,
                partitions=partitions,
                rate=rate,
                claims=tuple(claim or ["exactly-once"]),
                preset=preset,
                faults=tuple(fault or ()),
                schedule=schedule,
                accepted=tuple(accept_untested or ()),
                plain_data=plain_data,
                settle=settle,
            ),
            seed=seed,
            out=out,
            backend=backend,
            dry_run=dry_run,
            rehearsed=rehearsed,
            options=given(ctx, without=("seed", "dry_run", "rehearsed", "json_events", "junit")),
            events=json_events,
            junit=junit,
        )
    )


def _folder(ctx: typer.Context) -> Path:
    """Where the pipeline is started: here, or where the file lies that its command stands in."""
    settings, source = ctx.obj, ctx.get_parameter_source("command")
    named = source is not None and source.name == "DEFAULT_MAP"
    if not named or not isinstance(settings, Effective) or settings.file is None:
        return Path.cwd()
    return settings.file.parent
