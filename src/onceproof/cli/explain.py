"""`onceproof explain`: its options."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from onceproof.cli import completing


def explain(
    anomaly: Annotated[
        str | None,
        typer.Argument(
            help="Its name; without one, all are listed.", autocompletion=completing.anomalies
        ),
    ] = None,
) -> None:
    """Explain an anomaly: what it is, a picture of it, what it refutes, its usual cause."""
    from onceproof.commands import explain as command

    sys.exit(command.explain(anomaly))
