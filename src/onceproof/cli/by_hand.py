"""`onceproof fault`, `heal`, `status` and `end`: their options."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from onceproof.cli import completing
from onceproof.cli.options import LabName


def fault(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Which; without one, all are listed.", autocompletion=completing.faults
        ),
    ] = None,
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
