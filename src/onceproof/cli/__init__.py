"""The command line: all commands, in the order of `--help`.

These files only define options; `onceproof.commands` does the work, and is imported when a command
runs. Progress goes to standard error, results to standard output. Users never see a traceback.
"""

from __future__ import annotations

import typer

from onceproof.arrow_alone import process_is_ours
from onceproof.cli import (
    audit,
    by_hand,
    check,
    clean,
    config,
    cost,
    diff,
    doctor,
    explain,
    explore,
    lab,
    matrix,
    report,
    run,
    runtimes,
    shell,
    soak,
    verify,
)
from onceproof.cli import list as listing
from onceproof.cli.commands import Commands
from onceproof.cli.outputs import outlive_readers
from onceproof.interrupts import interruptible

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Tests exactly-once claims under real faults, and judges record by record if they hold.",
)

_TRIAL, _JUDGE, _LAB, _HERE = "Run trials", "Judge and report", "Break by hand", "This machine"

app.callback()(config.before)
app.command(rich_help_panel=_TRIAL)(run.run)
app.command(rich_help_panel=_TRIAL)(verify.verify)
app.command(rich_help_panel=_TRIAL)(explore.explore)
app.command("list", rich_help_panel=_TRIAL)(listing.list_)
app.command(rich_help_panel=_TRIAL)(run.replay)
app.command(rich_help_panel=_TRIAL)(soak.soak)
app.command(rich_help_panel=_TRIAL)(matrix.matrix)
app.command(rich_help_panel=_TRIAL)(cost.cost)
app.command(rich_help_panel=_JUDGE)(check.check)
app.command(rich_help_panel=_JUDGE)(audit.audit)
app.command(rich_help_panel=_JUDGE)(report.report)
app.command(rich_help_panel=_JUDGE)(diff.diff)
app.command(rich_help_panel=_JUDGE)(shell.shell)
app.command(rich_help_panel=_JUDGE)(explain.explain)
app.command(rich_help_panel=_LAB)(lab.lab)
app.command(rich_help_panel=_LAB)(by_hand.fault)
app.command(rich_help_panel=_LAB)(by_hand.heal)
app.command(rich_help_panel=_LAB)(by_hand.status)
app.command(rich_help_panel=_LAB)(by_hand.link)
app.command(rich_help_panel=_LAB)(by_hand.end)
app.command(rich_help_panel=_HERE)(doctor.doctor)
app.command(rich_help_panel=_HERE)(runtimes.runtimes)
app.command(rich_help_panel=_HERE)(clean.clean)
app.add_typer(config.config, name="config", rich_help_panel=_HERE)


def main() -> None:
    """Run the command line; `onceproof.__main__` calls it after its imports."""
    process_is_ours()
    outlive_readers()
    with interruptible():
        app()
