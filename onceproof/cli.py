"""The command line: `onceproof run`, `list`, `check`, `lab`, `explain` and the others.

The one thing to know: progress goes to standard error, results to standard output, and no error
reaches the user as a traceback.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Puts exactly-once claims under real faults and says, record by record, if they hold.",
)

Seed = Annotated[int | None, typer.Option(help="Draws the workload; without it one is chosen.")]
Out = Annotated[Path, typer.Option(help="Folder that gets the run folders.")]


def _backend(word: str) -> str:
    from harness.stage.backends import is_backend

    if not is_backend(word):
        raise typer.BadParameter(f"{word!r}: expected local, docker or external:FILE")
    return word


def _own_backend(word: str) -> str:
    from harness.stage.backends import DOCKER, LOCAL

    if word not in (LOCAL, DOCKER):
        raise typer.BadParameter(f"{word!r}: expected local or docker")
    return word


Backend = Annotated[
    str,
    typer.Option(
        callback=_backend,
        help="What the stage is made of: local (processes of this machine), docker (containers), "
        "or external:FILE, your own cluster as FILE describes it.",
    ),
]
Folder = Annotated[Path, typer.Argument(help="A run folder: runs/<time>-<scenario>-<seed>.")]


@app.command()
def run(
    scenario: Annotated[
        list[str] | None,
        typer.Argument(help="Names from `onceproof list`; without any, the flagship."),
    ] = None,
    seed: Seed = None,
    out: Out = Path("runs"),
    backend: Backend = "local",
    transaction_version: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2,
            help="Which version of Kafka's transactions the cluster has; 2 refuses what comes late "
            "from an earlier transaction. Without it, the brokers' own.",
        ),
    ] = None,
) -> None:
    """Run scenarios on real brokers, judge them, write their reports.

    Exit code: 0 every claim is as expected; 1 violated, 3 invalid, 4 stalled, 5 unknown or
    unexercised where something else was expected; 2 usage; 130 interrupted.
    """
    from onceproof.commands import run as command

    sys.exit(
        command.run(
            scenario or [],
            seed=seed,
            out=out,
            backend=backend,
            transaction_version=transaction_version,
        )
    )


@app.command("list")
def list_(
    words: Annotated[
        list[str] | None, typer.Argument(help="Only those with one of these words in their names.")
    ] = None,
) -> None:
    """List the scenarios: subject, faults, needs, claims and what is expected of them."""
    from onceproof.commands import list as command

    sys.exit(command.list_scenarios(words or []))


@app.command()
def check(
    path: Annotated[
        str,
        typer.Argument(
            help="A run folder, or a history that was recorded elsewhere; with Spark also a URI."
        ),
    ],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", help="run, jepsen, jsonl or parquet; without it, by the files there."
        ),
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(
            help="What to judge a foreign history by: exactly-once:TOPIC, or "
            '"exactly-once:TOPIC->SINK@VIEW". Repeatable; without any, all that it has tables for.'
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="duckdb or spark.")] = "duckdb",
    master: Annotated[str | None, typer.Option(help="Spark's master, e.g. local[4].")] = None,
    memory: Annotated[str | None, typer.Option(help="What the engine may hold, e.g. 2GB.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="DuckDB's threads.")] = None,
    exact: Annotated[
        bool, typer.Option(help="Compare everything in full, without a cheap look first.")
    ] = False,
    isolation: Annotated[
        str | None, typer.Option(help="Jepsen: read_committed (default) or read_uncommitted.")
    ] = None,
    transactions: Annotated[
        bool | None, typer.Option(help="Jepsen: whether clients used any; else it is found out.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="File that gets the judgement.")] = None,
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
            path, format_=format_, claims=claim or (), settings=limits, json=json, options=options
        )
    sys.exit(found)


@app.command()
def report(folder: Folder) -> None:
    """Write report.html and report.json of a run folder again and say where they lie."""
    from onceproof.commands import check as command

    sys.exit(command.report(folder))


@app.command()
def explain(
    anomaly: Annotated[
        str | None, typer.Argument(help="Its name; without one, all are listed.")
    ] = None,
) -> None:
    """Explain an anomaly: what it is, a picture of it, what it refutes, its usual cause."""
    from onceproof.commands import explain as command

    sys.exit(command.explain(anomaly))


@app.command()
def doctor() -> None:
    """Say what is here, what is missing, and what to do."""
    from onceproof.commands import doctor as command

    sys.exit(command.doctor())


@app.command()
def soak(
    scenario: Annotated[
        list[str] | None,
        typer.Argument(help="Names from `onceproof list`; without any, the flagship."),
    ] = None,
    runs: Annotated[int, typer.Option(min=0, help="How many seeds; 0: until told to stop.")] = 10,
    seed: Annotated[int, typer.Option(help="The first seed; the others follow it.")] = 1,
    out: Out = Path("runs"),
    backend: Backend = "local",
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Keep the run folders of what was as expected, too.")
    ] = False,
    free: Annotated[
        float, typer.Option(min=0, help="Stop when the disk has fewer GiB free than this.")
    ] = 5.0,
) -> None:
    """Repeat scenarios with new seeds; keep what was unexpected; stop when anything of us grows.

    Ends with a table seed × subject × claim → verdict. Exit code: as for run; 3 if it was stopped
    because the disk ran low, or because its memory, processes, threads or open files grew.
    """
    from onceproof.commands import soak as command

    sys.exit(
        command.soak(
            scenario or [],
            runs=runs,
            seed=seed,
            out=out,
            backend=backend,
            keep_all=keep_all,
            least_free=round(free * 2**30),
        )
    )


@app.command()
def matrix(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Only scenarios with one of these words in their names."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only one or two of each family of subjects.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of all runs.")] = 1,
    out: Out = Path("runs"),
    backend: Annotated[
        list[str] | None,
        typer.Option(
            callback=lambda given: [_own_backend(word) for word in given or ()],
            help="local or docker. Repeatable; without any, both.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="How many runs at a time; without it, by cores and memory."),
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="File that gets the table, too.")] = None,
) -> None:
    """Run every scenario on both backends and write one page: subjects × faults → verdicts.

    A run that is there already (same scenario, seed, backend, schedule and code) is not made again.
    Exit code: as for run, of what matters most; 130 if something was left to run.
    """
    from onceproof.commands import matrix as command

    sys.exit(
        command.matrix(
            words or [],
            quick=quick,
            seed=seed,
            out=out,
            backends=backend or ["local", "docker"],
            jobs=jobs,
            markdown=markdown,
        )
    )


@app.command()
def verify(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND...",
            help="The pipeline's command, behind --. {bootstrap}, {input}, {checkpoint}, {work}, "
            "{database}, {jdbc} and {spark_jars} in it are filled in.",
        ),
    ],
    output: Annotated[
        list[str],
        typer.Option(
            help="Where it writes: TOPIC or TOPIC@read_uncommitted, postgres:TABLE, "
            "parquet:FOLDER, csv:FOLDER, json:FOLDER, delta:FOLDER, iceberg:FOLDER or "
            "command:COMMAND that prints what arrived. Repeatable."
        ),
    ],
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
            help="How many effects an input has: 1, 0..1 behind a filter, 3, 0..3, or "
            "FILE.py:FUNCTION that says it of an input."
        ),
    ] = "1",
    effect_key: Annotated[
        str | None,
        typer.Option(help="What tells several effects of an input apart; else their content."),
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
        typer.Option(help="exactly-once (default), at-least-once, at-most-once. Repeatable."),
    ] = None,
    preset: Annotated[
        str, typer.Option(help="What is done to it: gentle, standard or brutal.")
    ] = "standard",
    fault: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of a preset: a fault as `onceproof fault` takes it, such as "
            '"kill-driver after-sink-write". Repeatable; one after the other.'
        ),
    ] = None,
    schedule: Annotated[
        Path | None,
        typer.Option(
            help="Instead of a preset: a file with a schedule, as run.json has in `plan`."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what would be done, and see without faults that all fits."
        ),
    ] = False,
    seed: Seed = None,
    out: Out = Path("runs"),
    backend: Backend = "local",
) -> None:
    """Put a pipeline of your own on trial, unchanged: its command, its input, its output.

    Exit code: 0 every claim holds; 1 violated, 3 invalid, 4 stalled, 5 unknown or unexercised;
    2 usage; 130 interrupted.
    """
    from onceproof.commands import verify as verifying
    from onceproof.verify.presets import PRESETS
    from onceproof.verify.said import Said

    if preset not in PRESETS:
        raise typer.BadParameter(f"{preset!r}: expected {', '.join(PRESETS)}")
    given = sys.argv[2 : len(sys.argv) - len(command)]
    sys.exit(
        verifying.verify(
            Said(
                command=tuple(command),
                folder=Path.cwd(),
                topic=input_,
                outputs=tuple(output),
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
            ),
            seed=seed,
            out=out,
            backend=backend,
            dry_run=dry_run,
            options=[word for word in given if word != "--"],
        )
    )


@app.command()
def replay(
    folder: Folder,
    out: Out = Path("runs"),
    backend: Annotated[
        str | None,
        typer.Option(
            callback=lambda word: word and _backend(word),
            help="As for run; without it, the backend that the run had.",
        ),
    ] = None,
) -> None:
    """Run again what a run folder says: its scenario, its seed and the schedule as it was then.

    Exit code: as for run.
    """
    from onceproof.commands import run as command

    sys.exit(command.replay(folder, out=out, backend=backend))


LabName = Annotated[str | None, typer.Option("--lab", help="Which lab, if more than one is up.")]


@app.command()
def lab(
    scenario: Annotated[
        str | None,
        typer.Argument(help="Whose pipeline, workload and claims; without one, the flagship's."),
    ] = None,
    bare: Annotated[
        bool,
        typer.Option(
            "--bare", help="Only the stage, for programs of your own: no pipeline, no verdict."
        ),
    ] = False,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:PARTITIONS]",
            help="With --bare: a topic to make. Repeatable; without any, orders:3.",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="What the lab is called.")] = "lab",
    records: Annotated[
        int, typer.Option(min=1, help="How many records are sent at most.")
    ] = 100_000,
    rate: Annotated[int, typer.Option(min=1, help="Records per second.")] = 100,
    seed: Seed = None,
    out: Out = Path("runs"),
    backend: Backend = "local",
) -> None:
    """Bring a stage with a pipeline up and keep it: you break it by hand, and it is judged.

    Exit code as of `run`; 130 if it ended without a verdict. With --bare there is none: 0 when it
    was ended, 3 when the stage failed.
    """
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
        )
    )


@app.command()
def fault(
    name: Annotated[str | None, typer.Argument(help="Which; without one, all are listed.")] = None,
    words: Annotated[
        list[str] | None, typer.Argument(help="Its target, such as leader:payments-0 or broker-2.")
    ] = None,
    lab: LabName = None,
) -> None:
    """Let a fault act in a lab: isolate, kill, cut, lose-responses, kill-driver.

    Exit code: 0 it is at work or lies in wait; 1 it could not act; 2 usage; 3 no lab is up, or
    several are and none is named.
    """
    from onceproof.commands import by_hand as command

    sys.exit(command.fault(name, words or [], lab=lab))


@app.command()
def heal(
    name: Annotated[
        str | None, typer.Argument(help="Which, such as isolate-1; without one, all.")
    ] = None,
    lab: LabName = None,
) -> None:
    """Heal a fault of a lab, and see that it is undone; what failed to heal is tried again.

    Exit code: 0 everything asked for is undone; 1 it is not; 3 as of `fault`.
    """
    from onceproof.commands import by_hand as command

    sys.exit(command.heal(name, lab=lab))


@app.command()
def status(
    lab: LabName = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show it anew each second.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show what a lab looks like: nodes, leaders, in-sync replicas, links, faults, progress.

    Exit code: 0, also when a lab that is watched ends; 1 it cannot say; 3 as of `fault`.
    """
    from onceproof.commands import by_hand as command

    sys.exit(command.status(lab=lab, watch=watch, as_json=as_json))


@app.command()
def end(
    lab: LabName = None,
    judge: Annotated[
        bool, typer.Option("--judge/--no-judge", help="Settle, collect and judge it, or only end.")
    ] = True,
) -> None:
    """End a lab: heal what is at work, settle, collect, judge, tear down.

    Exit code: 0 it ends; 1 it was ending already; 3 as of `fault`.
    """
    from onceproof.commands import by_hand as command

    sys.exit(command.end(lab=lab, judge=judge))


def main() -> None:
    """The command `onceproof`."""
    app()
