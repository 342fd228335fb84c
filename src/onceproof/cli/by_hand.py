"""`onceproof fault`, `heal`, `status`, `link` and `end`: their options."""

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
            help="The fault (default: list all faults).", autocompletion=completing.faults
        ),
    ] = None,
    words: Annotated[
        list[str] | None, typer.Argument(help="The target, such as leader:payments-0 or driver.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="WINDOW",
            help="For kill and pause: the window of the target's work to wait for, such as "
            "after-sink-write (default: at once).",
        ),
    ] = None,
    lab: LabName = None,
) -> None:
    """Inject a fault into a lab, such as isolate, kill, cut or lose-responses.

    Exit code: 0 the fault is active or armed; 1 it failed; 2 usage; 3 no lab is running, or
    several are and --lab is missing.
    """
    from onceproof.commands import by_hand as command

    sys.exit(command.fault(name, [*(words or []), *(["--at", at] if at else [])], lab=lab))


def heal(
    name: Annotated[
        str | None, typer.Argument(help="The fault, such as isolate-1 (default: all).")
    ] = None,
    messages: Annotated[
        str | None,
        typer.Option(
            metavar="drop|error:NAME",
            help="Lose the messages that the fault holds, or answer with an error "
            "(default: forward them).",
        ),
    ] = None,
    lab: LabName = None,
) -> None:
    """Heal a fault of a lab and wait until it is undone; a fault that failed to heal is retried.

    Exit code: 0 all are healed; 1 one is not; 3 as for `fault`.
    """
    from onceproof.commands import by_hand as command

    sys.exit(command.heal(name, messages=messages, lab=lab))


def status(
    lab: LabName = None,
    watch: Annotated[bool, typer.Option("--watch", help="Refresh every second.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a lab: nodes, leaders, in-sync replicas, links, faults and progress.

    Exit code: 0, also when a watched lab ends; 1 the lab does not answer; 3 as for `fault`.
    """
    from onceproof.commands import by_hand as command

    sys.exit(command.status(lab=lab, watch=watch, as_json=as_json))


def link(lab: LabName = None) -> None:
    """Print a link to the page of a lab, which was started with --web, for one more browser.

    Exit code: 0; 1 the lab has no page; 3 as for `fault`.
    """
    from onceproof.commands import by_hand as command

    sys.exit(command.link(lab=lab))


def end(
    lab: LabName = None,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge/--no-judge", help="Whether to settle, collect and judge before it ends."
        ),
    ] = True,
) -> None:
    """End a lab: heal all faults, settle, collect, judge, tear down.

    Exit code: 0 it ends; 1 it was already ending; 3 as for `fault`.
    """
    from onceproof.commands import by_hand as command

    sys.exit(command.end(lab=lab, judge=judge))
