"""The command line: which commands there are, in the order in which `--help` shows them.

The one thing to know: the files here only say which options a command has; what it does is in
`onceproof.commands`, which is imported when the command is run. Progress goes to standard error,
results to standard output, and no error reaches the user as a traceback.
"""

from __future__ import annotations

import typer

from onceproof.arrow_alone import process_is_ours
from onceproof.cli import (
    by_hand,
    check,
    clean,
    config,
    diff,
    doctor,
    explain,
    lab,
    matrix,
    report,
    run,
    shell,
    soak,
    verify,
)
from onceproof.cli import list as listing
from onceproof.cli.commands import Commands
from onceproof.own_imports import import_ours_first

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Puts exactly-once claims under real faults and says, record by record, if they hold.",
)

app.callback()(config.before)
app.command()(run.run)
app.command("list")(listing.list_)
app.command()(check.check)
app.command()(report.report)
app.command()(diff.diff)
app.command()(shell.shell)
app.command()(explain.explain)
app.command()(doctor.doctor)
app.command()(clean.clean)
app.command()(soak.soak)
app.command()(matrix.matrix)
app.command()(verify.verify)
app.command()(run.replay)
app.command()(lab.lab)
app.command()(by_hand.fault)
app.command()(by_hand.heal)
app.command()(by_hand.status)
app.command()(by_hand.end)
app.add_typer(config.config, name="config")


def main() -> None:
    """The command `onceproof`."""
    import_ours_first()
    process_is_ours()
    app()
