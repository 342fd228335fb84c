"""Options and arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.words import Backend as BackendType

Scenarios = Annotated[
    list[str] | None,
    typer.Argument(
        help="Names from `onceproof list`; without any, the flagship.",
        autocompletion=completing.scenarios,
    ),
]
Seed = Annotated[int | None, typer.Option(help="Draws the workload; without it one is chosen.")]
Out = Annotated[Path, typer.Option(help="Folder that gets the run folders.")]
Backend = Annotated[
    str,
    typer.Option(
        parser=BackendType(),
        autocompletion=completing.backends,
        help="What the stage is made of: local (processes of this machine), docker (containers), "
        "or external:FILE, your own cluster as FILE describes it.",
    ),
]
Folder = Annotated[
    Path,
    typer.Argument(
        help="A run folder: runs/<time>-<scenario>-<seed>.", autocompletion=completing.run_folders
    ),
]
Private = Annotated[
    bool,
    typer.Option(
        "--private",
        help="In a network of its own, which no other user of this machine can reach, and from "
        "which nothing outside is reached; with the local backend only.",
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option(help="File that gets every claim as a test case, in JUnit's XML, run by run."),
]
LabName = Annotated[str | None, typer.Option("--lab", help="Which lab, if more than one is up.")]
Events = Annotated[
    str | None,
    typer.Option(
        "--json-events",
        metavar="FILE",
        help="File that gets a line of JSON for everything that happens, as it happens; - is "
        "standard output. See docs/reference/events.md.",
    ),
]
