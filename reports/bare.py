"""Print what a bare lab leaves. It makes no claims, so there are paths but no verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from rich.text import Text

from onceproof.reports.model import Phase, Report
from onceproof.reports.terminal import console
from onceproof.reports.text import line, plural
from onceproof.reports.write import HTML_FILE, JSON_FILE


def print_unjudged(report: Report, out: TextIO, folder: Path) -> None:
    """Print the number of faults, the failed phase if any, and where to find the rest."""
    to = console(out)
    effective = sum(fault.took_effect for fault in report.faults)
    to.print(Text("Nothing was judged: a bare lab makes no claims.", style="bold"))
    done = f"{plural(len(report.faults), 'fault')}, {effective} with a proven effect."
    to.print(Text(f"{done} The run folder has their times, their evidence and the logs."))
    if (phase := failed_phase(report)) is not None:
        to.print(Text(f"Phase {line(phase.phase)} failed: {line(phase.detail or '')}", style="red"))
    to.print()
    for label, value in (
        ("report", str(folder / HTML_FILE)),
        ("data", str(folder / JSON_FILE)),
        ("history", str(folder / "history")),
        ("logs", str(folder / "logs")),
        ("repeat", report.run.repeat),
    ):
        to.print(Text(f"{label:<8} {line(value)}"), soft_wrap=True)


def failed_phase(report: Report) -> Phase | None:
    return next((phase for phase in report.phases if phase.outcome == "failed"), None)
