"""Options and arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onceproof.cli.words import Backend as BackendType

Seed = Annotated[int | None, typer.Option(help="Draws the workload; without it one is chosen.")]
Out = Annotated[Path, typer.Option(help="Folder that gets the run folders.")]
Backend = Annotated[
    str,
    typer.Option(
        parser=BackendType(),
        help="What the stage is made of: local (processes of this machine), docker (containers), "
        "or external:FILE, your own cluster as FILE describes it.",
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option(help="File that gets every claim as a test case, in JUnit's XML, run by run."),
]
Folder = Annotated[Path, typer.Argument(help="A run folder: runs/<time>-<scenario>-<seed>.")]
LabName = Annotated[str | None, typer.Option("--lab", help="Which lab, if more than one is up.")]
