"""Print an audit report in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TextIO

from rich.text import Text

from onceproof.reports.audit.model import AuditReport, Result
from onceproof.reports.terminal import console
from onceproof.reports.text import line, plural

_SHOWN: Final = 3
_STYLES: Final = {
    Result.CLEAN: "bold green",
    Result.VIOLATED: "bold red",
    Result.UNKNOWN: "bold yellow",
    Result.INVALID: "bold magenta",
}


def print_audit(report: AuditReport, out: TextIO, folder: Path) -> None:
    to = console(out)
    to.print(Text(f"{report.result}: {line(report.headline)}", style=_STYLES[report.result]))
    for claim in report.claims:
        to.print(Text(f"{claim.result:<9} {line(claim.name)}: {line(claim.reason)}"))
    for found in report.findings:
        to.print(Text(f"\n{found.anomaly} in {line(found.sink)} ({found.count})", style="bold"))
        for sentence in found.sentences[:_SHOWN]:
            to.print(Text(f"  {line(sentence)}"))
    to.print()
    for each in report.open:
        state = "hanging" if each.hanging else "open"
        to.print(
            Text(
                f"open     transaction on {each.topic}-{each.partition} {state} since {each.since}"
            )
        )
    for note in report.notes:
        to.print(Text(f"limit    {line(note)}"))
    if report.repairs:
        name = str(folder / "repairs.jsonl")
        to.print(Text(f"repairs  {name}: {plural(report.repairs, 'record')}"), soft_wrap=True)
    for label, value in (("report", "report.html"), ("data", "report.json")):
        to.print(Text(f"{label:<8} {folder / value}"), soft_wrap=True)
    to.print(Text(f"history  {folder / 'history'}"), soft_wrap=True)
