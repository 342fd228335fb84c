"""Options and arguments that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.words import Backend as BackendType
from onceproof.cli.words import RuntimeVersion

Scenarios = Annotated[
    list[str] | None,
    typer.Argument(
        help="Names from `onceproof list`, or FILE.py:NAME for your own scenario (default: "
        "the flagship).",
        autocompletion=completing.scenarios,
    ),
]
Seed = Annotated[int | None, typer.Option(help="Workload seed (default: random).")]
Out = Annotated[Path, typer.Option(help="Folder for the run folders.")]
Backend = Annotated[
    str,
    typer.Option(
        parser=BackendType(),
        autocompletion=completing.backends,
        help="Where brokers run: local (processes), docker (containers), or external:FILE "
        "(your own cluster, described in FILE).",
    ),
]
Folder = Annotated[
    Path,
    typer.Argument(
        help="A run folder, such as runs/<time>-<scenario>-<seed>.",
        autocompletion=completing.run_folders,
    ),
]
Private = Annotated[
    bool,
    typer.Option(
        "--private",
        help="Run in a private network namespace, isolated from other users of this machine "
        "and from all other networks (local backend only).",
    ),
]
WebPage = Annotated[
    bool,
    typer.Option(
        "--web", help="Show it on a page of this machine, whose link works for one browser."
    ),
]
Secured = Annotated[
    bool,
    typer.Option(
        "--secured",
        help="Start brokers that require TLS and SCRAM, with new passwords for each run; the "
        "same as --backend local-secured.",
    ),
]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        parser=RuntimeVersion(),
        autocompletion=completing.runtimes,
        metavar="NAME=VERSION",
        help="Use this version of a runtime, such as kafka=3.9.2 or librdkafka=1.9.2; "
        "`onceproof runtimes` lists them. Repeatable.",
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option(help="Write each claim of each run as a test case to this JUnit XML file."),
]
LabName = Annotated[
    str | None, typer.Option("--lab", help="Name of the lab, if several are running.")
]
Events = Annotated[
    str | None,
    typer.Option(
        "--json-events",
        metavar="FILE",
        help="Write events to this file as lines of JSON, as they happen; - is standard "
        "output. See docs/reference/events.md.",
    ),
]
Effects = Annotated[
    str,
    typer.Option(
        help="Expected number of outputs per input: 1, 3, or FILE.py:FUNCTION returning "
        "the expected count; 0..1 or 0..3 only with at-most-once."
    ),
]
EffectKey = Annotated[
    str | None,
    typer.Option(
        help="Where an output carries the value that distinguishes it from other outputs of "
        "the same input (default: its content). The function in --effects then returns the "
        "list of these values."
    ),
]
Expect = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[OUTPUT=]FILE.py:FUNCTION",
        help="Compare contents too: function that takes an input and returns the content of "
        "its output, a list of contents, or None. Replaces --effects. Repeatable, once per "
        "output.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE",
        help="Field to exclude from the comparison, such as json:$.written_at. Repeatable.",
    ),
]
Decode = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[TOPIC=]FILE.py:FUNCTION",
        help="Function that takes the bytes of a record's value and returns its content, "
        "such as for Avro or Protobuf. Repeatable, once per topic.",
    ),
]
DeadLetters = Annotated[
    str | None,
    typer.Option(
        help="Where the pipeline writes dead letters, in the syntax of --output: each input "
        "must have its outputs or one dead letter."
    ),
]
DeadLetterIdentity = Annotated[
    str | None,
    typer.Option(
        help="Where a dead letter carries the identity of its input (default: --identity)."
    ),
]
Identity = Annotated[
    str,
    typer.Option(
        help="Where an output record carries the identity of its input: json:$.FIELD (or "
        "a column), header:NAME, key or regex:PATTERN."
    ),
]
