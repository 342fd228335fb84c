"""`onceproof verify`: its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from onceproof.cli import completing
from onceproof.cli.given import given
from onceproof.cli.options import (
    Backend,
    DeadLetters,
    Decode,
    Events,
    Expect,
    Ignore,
    Junit,
    Out,
    Private,
    Secured,
    Seed,
    With,
)
from onceproof.cli.words import ChoiceOf, choice_option, secured_backend
from onceproof.settings.effective import Effective

_NOT_REPEATED: Final = (
    "seed", "dry_run", "reuse_dry_run", "json_events", "junit", "explore", "trials", "time_limit",
    "only", "cases",
)  # fmt: skip
"""Options that the command to repeat a trial lacks."""


def verify(
    ctx: typer.Context,
    output: Annotated[
        list[str],
        typer.Option(
            autocompletion=completing.outputs,
            help="Where the pipeline writes: TOPIC, TOPIC@read_uncommitted, or a kind and a "
            "place, such as postgres:TABLE, http:PATH, parquet:FOLDER, or command:COMMAND, which "
            "prints the output. An unknown kind is an error that lists all kinds. Repeatable.",
        ),
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...",
            help="The pipeline's command, after --. Placeholders: {bootstrap}, {input}, "
            "{input:TOPIC}, {output}, {group}, {client_id}, {instance}, {checkpoint}, {work}, "
            "{database}, {database_url}, {jdbc}, {queues}, {http}, {spark_jars}, {kafka_jars}, "
            "{queue_jars}, {client_properties} and {librdkafka_properties}.",
        ),
    ] = None,
    instances: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of processes to start, as members of one group; {instance} in the "
            "command is the number of each, from 0.",
        ),
    ] = 1,
    healthy: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Health check: the pipeline is up when this URL returns 2xx; {instance} is the "
            "number of each instance (default: when it first writes).",
        ),
    ] = None,
    stop_command: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Stops a deployed service, as systemctl stop does. COMMAND after -- must start "
            "it and return. Requires --kill-command and --healthy.",
        ),
    ] = None,
    kill_command: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Kills the service at once, as docker kill does. Requires --stop-command and "
            "--healthy.",
        ),
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(
            help="Run the pipeline as a container of this Docker image, on the host's network; "
            "COMMAND after -- is passed to its entry point.",
        ),
    ] = None,
    compose: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Run the service --service of this compose file as the pipeline, with its image "
            "and environment as they are, on the host's network; no other service is started. "
            "COMMAND after --, if given, replaces its command. Give the addresses with --env.",
        ),
    ] = None,
    service: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Service of --compose that is the pipeline."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Environment variable of the pipeline, with placeholders as in COMMAND. "
            "Repeatable.",
        ),
    ] = None,
    feed: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Delivers inputs to a pipeline that reads no topic, such as rows to a table. It "
            "is run for each small batch of inputs, with one value per line on standard input, and "
            "again with the same lines if it fails. Placeholders as in the pipeline's command.",
        ),
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            help="Another topic to create before the pipeline starts (brokers do not create "
            "topics automatically). Repeatable."
        ),
    ] = None,
    input_: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="Topic that the pipeline reads (default: orders). Repeatable, for a join or a "
            "union: {input:TOPIC} in the command is one of them.",
        ),
    ] = None,
    identity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TOPIC=]RULE",
            help="Where an output record carries the identity of its input: json:$.FIELD (or a "
            "column), header:NAME, key or regex:PATTERN. Repeatable, once per input topic "
            "(default: json:$.order_id, and json:$.payment_id for each --input after the first).",
        ),
    ] = None,
    effects: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TOPIC=]NUMBER",
            help="Expected number of outputs per input: 1 (default), 3, or FILE.py:FUNCTION "
            "returning the expected count; 0..1 or 0..3 only with at-most-once or atomic. "
            "Repeatable, once per input topic.",
        ),
    ] = None,
    effect_key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TOPIC=]RULE",
            help="Where an output carries the value that distinguishes it from other outputs of "
            "the same input (default: its content). The function in --effects then returns the "
            "list of these values. Repeatable, once per input topic.",
        ),
    ] = None,
    expect: Expect = None,
    expect_state: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[OUTPUT=]FILE.py:FUNCTION",
            help="For state tables, such as a sum per key: function that takes all inputs and "
            "returns the final content of each key. Requires --upserts. Repeatable, once per "
            "output.",
        ),
    ] = None,
    ignore: Ignore = None,
    dead_letters: DeadLetters = None,
    dead_letter_identity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TOPIC=]RULE",
            help="Where a dead letter carries the identity of its input (default: --identity). "
            "Repeatable, once per input topic.",
        ),
    ] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="HEADER",
            help="Header with the idempotency key of requests to an output http:PATH, such as "
            "Idempotency-Key: a repeated request gets the first response again and is not executed "
            "again.",
        ),
    ] = None,
    encode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TOPIC=]FILE.py:FUNCTION",
            help="Function that takes an input and returns the bytes of its value, such as Avro "
            "or Protobuf (default: JSON text). Repeatable, once per input topic.",
        ),
    ] = None,
    decode: Decode = None,
    upserts: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Where an upsert output has its key (json:$.COLUMN, or key for a topic): at the "
            "end each key must have the value of its last input, or what --expect-state returns. "
            "An input's key is its Kafka record key.",
        ),
    ] = None,
    event_time: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Where an input has its event time (json:$.FIELD), for a pipeline with windows: "
            "the last inputs get later event times, so that windows close. Generated orders get "
            "this field.",
        ),
    ] = None,
    event_time_format: Annotated[
        str,
        choice_option(
            ChoiceOf("iso", "ms", "s"),
            help="Format of the event time: iso (ISO 8601), ms or s (since 1970).",
        ),
    ] = "iso",
    allowed_lateness: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="With --event-time: an input may be dropped if its event time is this much "
            "before that of an earlier input, such as 500ms, 10s or 5m.",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TOPIC=]FILE",
            help="Records to send: .jsonl, .csv or .parquet (default: generated orders). "
            "Repeatable, once per input topic.",
        ),
    ] = None,
    data_identity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TOPIC=]RULE",
            help="Where a record of --data carries its identity (default: --identity). "
            "Repeatable, once per input topic.",
        ),
    ] = None,
    data_key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TOPIC=]RULE",
            help="Where a record of --data carries its key (default: its identity). Repeatable, "
            "once per input topic.",
        ),
    ] = None,
    records: Annotated[
        int | None,
        typer.Option(min=1, help="Total number of records (default: all of --data, or 12000)."),
    ] = None,
    partitions: Annotated[
        int, typer.Option(min=3, help="Number of partitions of each input topic.")
    ] = 3,
    rate: Annotated[
        int, typer.Option(min=1, help="Records per second while faults are active.")
    ] = 400,
    claim: Annotated[
        list[str] | None,
        choice_option(
            ChoiceOf("exactly-once", "at-least-once", "at-most-once", "atomic"),
            help="Claim to test: exactly-once (default), at-least-once or at-most-once for each "
            "output, or atomic: an input has effects in all outputs or in none. Repeatable.",
        ),
    ] = None,
    preset: Annotated[
        str,
        choice_option(
            ChoiceOf("gentle", "standard", "brutal"),
            help="How often each hazard is triggered: gentle once, standard 3 times, brutal 5 "
            "times; brutal also kills the program while a broker is down.",
        ),
    ] = "standard",
    fault: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=completing.faults,
            help="Inject this fault instead of the plan's, in the syntax of `onceproof fault`, "
            'such as "kill driver --at after-sink-write". Repeatable; faults run one after '
            "another. Hazards of the plan that do not occur count as untested.",
        ),
    ] = None,
    schedule: Annotated[
        Path | None,
        typer.Option(
            help="Use this schedule instead of a plan: a file in the form of `plan` in run.json."
        ),
    ] = None,
    accept_untested: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HAZARD",
            help="Let a claim hold although this hazard (or `all`) did not occur; the report's "
            "title says so. Repeatable.",
        ),
    ] = None,
    plain_data: Annotated[
        bool,
        typer.Option(
            "--plain-data",
            help="Send no unusual records: aborted, oversized, without value or key, or with "
            "repeated headers.",
        ),
    ] = False,
    transactional_input: Annotated[
        bool,
        typer.Option(
            "--transactional-input",
            help="Producers of the input may abort transactions: aborted records must have no "
            "effects, even if the pipeline reads with read_uncommitted.",
        ),
    ] = False,
    settle: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="How long the outputs may be idle while the pipeline still works (default: "
            "learned in the dry run).",
        ),
    ] = None,
    reuse_dry_run: Annotated[
        bool,
        typer.Option(
            "--reuse-dry-run",
            help="Reuse the result of the last dry run of this command and data.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Only do the dry run: check the setup without faults, and print what a trial "
            "would test.",
        ),
    ] = False,
    explore: Annotated[
        bool,
        typer.Option(
            "--explore",
            help="Try every fault at every message of the pipeline instead, as `onceproof explore` "
            "does, in the folder explore-verify of --out. With {bootstrap}, {input}, {output}, "
            "{group} and {client_id} in the command trials run side by side.",
        ),
    ] = False,
    trials: Annotated[
        int | None, typer.Option(min=1, help="With --explore: stop after this number of trials.")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, metavar="MINUTES", help="With --explore: stop after this time."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="FAULTS",
            help="With --explore: repeat one trial, named as in the output, five times.",
        ),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --explore: repeat the smallest case of each violation, from the cases.json "
            "of an earlier exploration, and tell which are gone.",
        ),
    ] = None,
    seed: Seed = None,
    out: Out = Path("runs"),
    versions: With = None,
    backend: Backend = "local",
    secured: Secured = False,
    private: Private = False,
    json_events: Events = None,
    junit: Junit = None,
) -> None:
    """Test your own pipeline, unchanged: you give its command, its input and its outputs.

    Exit code: 0 every claim holds; 1 violated; 2 usage; 3 invalid; 4 stalled; 5 unknown or
    unexercised; 130 interrupted.
    """
    if not command and image is None and compose is None:
        raise typer.BadParameter(
            "no command; give the pipeline's command after --, as in `-- python job.py`"
        )
    backend = secured_backend(backend, secured=secured)
    if private:
        from onceproof.private_network import go_private

        go_private(backend)
    from onceproof.commands import verify as verifying
    from onceproof.verify.inputs import inputs_of, options_of
    from onceproof.verify.options import VerifyOptions

    per_topic = {
        "identity": identity,
        "effects": effects,
        "effect_key": effect_key,
        "dead_letter_identity": dead_letter_identity,
        "encode": encode,
        "data": data,
        "data_identity": data_identity,
        "data_key": data_key,
    }
    given_per_topic = {name: values or [] for name, values in per_topic.items()}
    first, *others = inputs_of(input_ or ["orders"], given_per_topic)
    sys.exit(
        verifying.verify(
            VerifyOptions(
                command=tuple(command or ()),
                folder=_folder(ctx),
                instances=instances,
                healthy=healthy,
                stop_command=stop_command,
                kill_command=kill_command,
                image=image,
                compose=compose,
                service=service,
                variables=tuple(env or ()),
                feed=feed,
                **options_of(first),
                others=tuple(others),
                outputs=tuple(output),
                topics=tuple(topic or ()),
                expects=tuple(expect or ()),
                ignored=tuple(ignore or ()),
                states=tuple(expect_state or ()),
                dead_letters=dead_letters,
                idempotency_key=idempotency_key,
                decodes=tuple(decode or ()),
                upserts=upserts,
                event_time=event_time,
                event_time_format=event_time_format,
                allowed_lateness=allowed_lateness,
                records=records,
                partitions=partitions,
                rate=rate,
                claims=tuple(claim or ["exactly-once"]),
                preset=preset,
                faults=tuple(fault or ()),
                schedule=schedule,
                accepted=tuple(accept_untested or ()),
                plain_data=plain_data,
                transactional_input=transactional_input,
                settle=settle,
            ),
            seed=seed,
            out=out,
            backend=backend,
            versions=versions or [],
            dry_run=dry_run,
            reuse_dry_run=reuse_dry_run,
            given=given(ctx, without=_NOT_REPEATED),
            events=json_events,
            junit=junit,
            exploring=verifying.Exploring(trials=trials, minutes=time_limit, only=only, cases=cases)
            if explore
            else None,
        )
    )


def _folder(ctx: typer.Context) -> Path:
    """Return where to start the pipeline: in the settings file's folder if that has the command."""
    settings, source = ctx.obj, ctx.get_parameter_source("command")
    named = source is not None and source.name == "DEFAULT_MAP"
    if not named or not isinstance(settings, Effective) or settings.file is None:
        return Path.cwd()
    return settings.file.parent
