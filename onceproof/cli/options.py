"""Options and arguments that several commands have, and what they may be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def a_backend(word: str) -> str:
    """What `--backend` takes.

    Raises:
        BadParameter: it is no backend.
    """
    from harness.stage.backends import is_backend

    if not is_backend(word):
        raise typer.BadParameter(f"{word!r}: expected local, docker or external:FILE")
    return word


def own_backend(word: str) -> str:
    """What `--backend` takes where a cluster of the user's own is none.

    Raises:
        BadParameter: it is no such backend.
    """
    from harness.stage.backends import DOCKER, LOCAL

    if word not in (LOCAL, DOCKER):
        raise typer.BadParameter(f"{word!r}: expected local or docker")
    return word


Seed = Annotated[int | None, typer.Option(help="Draws the workload; without it one is chosen.")]
Out = Annotated[Path, typer.Option(help="Folder that gets the run folders.")]
Backend = Annotated[
    str,
    typer.Option(
        callback=a_backend,
        help="What the stage is made of: local (processes of this machine), docker (containers), "
        "or external:FILE, your own cluster as FILE describes it.",
    ),
]
Folder = Annotated[Path, typer.Argument(help="A run folder: runs/<time>-<scenario>-<seed>.")]
LabName = Annotated[str | None, typer.Option("--lab", help="Which lab, if more than one is up.")]
