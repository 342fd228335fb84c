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
            help="The anomaly (default: list all anomalies).", autocompletion=completing.anomalies
        ),
    ] = None,
) -> None:
    """Explain an anomaly: its definition, an example, what it refutes and its usual cause."""
    from onceproof.commands import explain as command

    sys.exit(command.explain(anomaly))
