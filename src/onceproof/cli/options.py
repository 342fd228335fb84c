"""Options and arguments that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.words import Backend as BackendType

Scenarios = Annotated[
    list[str] | None,
    typer.Argument(
        help="Names from `onceproof list`, or FILE.py:NAME for a scenario of your own "
        "(default: the flagship).",
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
        help="Run in a private network namespace that no other user of this machine can "
        "reach, and from which nothing outside can be reached (local backend only).",
    ),
]
Secured = Annotated[
    bool,
    typer.Option(
        "--secured",
        help="Brokers that require TLS and SCRAM, with a password for each run; the same as "
        "--backend local-secured.",
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
        help="Write each event to this file as a line of JSON while it happens; - is standard"
        " output. See docs/reference/events.md.",
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
        help="Where outputs of one input carry what distinguishes them (default: their "
        "content). The function in --effects then returns the list of these values."
    ),
]
Expect = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[OUTPUT=]FILE.py:FUNCTION",
        help="Compare contents too: a function that takes an input and returns the content of "
        "its output, a list of contents, or None. In place of --effects; repeatable, for each "
        "output one.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE",
        help="A field that is not compared, such as json:$.written_at. Repeatable.",
    ),
]
Decode = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[TOPIC=]FILE.py:FUNCTION",
        help="A function that takes the bytes of a record's value and returns its content, for "
        "Avro, Protobuf and the like. Repeatable, for each topic one.",
    ),
]
DeadLetters = Annotated[
    str | None,
    typer.Option(
        help="Where the pipeline writes dead letters, in the form of --output: each input"
        " must lead to its outputs or to one dead letter."
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
