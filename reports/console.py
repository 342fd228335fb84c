"""Print the result of a run, and the table of many runs, on standard output.

Without a terminal, or with NO_COLOR, the output is the same without colour. Control sequences in a
history never reach the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from onceproof.checkers.model import Verdict
from onceproof.reports.completeness import missed
from onceproof.reports.live import live
from onceproof.reports.model import Claim, Findings, Report
from onceproof.reports.terminal import console
from onceproof.reports.text import UNSEALED, line, plural, seconds
from onceproof.reports.write import HTML_FILE, JSON_FILE

__all__ = ["SoakRow", "live", "print_result", "print_summary", "rows_of", "summary_table"]

_STYLES = {
    Verdict.VIOLATED: "bold red",
    Verdict.INVALID: "bold magenta",
    Verdict.STALLED: "yellow",
    Verdict.UNKNOWN: "yellow",
    Verdict.UNEXERCISED: "cyan",
    Verdict.HOLDS: "green",
}
_SHOWN = 2


@dataclass(frozen=True, kw_only=True)
class SoakRow:
    """The result of one claim in one run, for the table of many runs."""

    run: str
    seed: int
    scenario: str
    claim: str
    verdict: Verdict
    expected: bool | None
    """None if the scenario states no expectation."""


def rows_of(report: Report) -> list[SoakRow]:
    run = report.run
    return [
        SoakRow(
            run=run.run,
            seed=run.seed,
            scenario=run.scenario,
            claim=claim.name,
            verdict=claim.verdict,
            expected=claim.expected,
        )
        for claim in report.claims
    ]


def print_result(report: Report, out: TextIO, folder: Path | None = None) -> None:
    """Print the verdicts, the first findings, and where to read more."""
    to = console(out)
    to.print(Text(line(report.headline), style="bold"))
    if report.unsealed:
        to.print(Text(line(f"{UNSEALED}: {report.unsealed}."), style="bold red"))
    to.print()
    to.print(_claims(report.claims))
    if report.run.schedule:
        to.print()
        to.print(_schedule(report))
    for group in report.findings:
        to.print()
        to.print(_finding(group))
    if mutations := missed(report):
        to.print()
        names = ", ".join(line(mutation.name) for mutation in mutations)
        to.print(
            Text(f"Mutation self-check failed, mutations not found: {names}", style="bold red")
        )
    to.print()
    for label, value in _where(report, folder):
        # A path or command must stay one line, so that it can be copied.
        to.print(Text(f"{label:<8} {line(value)}"), soft_wrap=True)


def summary_table(rows: Sequence[SoakRow]) -> RenderableType:
    """Return run × claim → verdict, one table per scenario, then the unexpected results."""
    tables: list[RenderableType] = []
    for scenario in dict.fromkeys(row.scenario for row in rows):
        mine = [row for row in rows if row.scenario == scenario]
        claims = list(dict.fromkeys(row.claim for row in mine))
        cells = {(row.run, row.claim): row for row in mine}
        table = _table(title=line(scenario))
        table.add_column("seed", justify="right")
        for claim in claims:
            table.add_column(Text(line(claim)), overflow="fold")
        for run, seed in {row.run: row.seed for row in mine}.items():
            table.add_row(str(seed), *(_cell(cells.get((run, claim))) for claim in claims))
        tables += [table, Text()]
    return Group(*tables, *_unexpected(rows))


def print_summary(rows: Sequence[SoakRow], out: TextIO) -> None:
    console(out).print(summary_table(rows))


def _claims(claims: Sequence[Claim]) -> Table:
    table = _table()
    table.add_column("claim", overflow="fold")
    table.add_column("verdict")
    table.add_column("as expected?")
    table.add_column("why", overflow="fold", ratio=1)
    for claim in claims:
        table.add_row(
            Text(line(claim.name)),
            Text(claim.verdict, style=_STYLES[claim.verdict]),
            _expected(claim),
            Text(line(claim.reason)),
        )
    return table


def _schedule(report: Report) -> Table:
    took_effect = {fault.fault: fault.took_effect for fault in report.faults}
    table = _table()
    for column in ("fault", "when", "what", "until"):
        table.add_column(column, overflow="fold")
    table.add_column("took effect?")
    for step in report.run.schedule:
        words = (step.fault, step.when, step.do, step.until)
        if took_effect.get(step.fault):
            did = Text("yes")
        else:
            did = Text("NO", style="bold red") if step.required else Text("no")
        table.add_row(*(Text(line(word)) for word in words), did)
    return table


def _expected(claim: Claim) -> Text:
    if claim.expected is None:
        return Text("–")
    if claim.expected:
        return Text("yes")
    wanted = f" ({claim.expectation.verdict})" if claim.expectation else ""
    return Text(f"NO{wanted}", style="bold red")


def _finding(group: Findings) -> Text:
    text = Text()
    text.append(line(group.anomaly), style="bold")
    text.append(f": {plural(group.count, 'finding')}")
    text.append("" if group.refutes else ", refutes no claim of this run", style="dim")
    for finding in group.shown[:_SHOWN]:
        text.append(f"\n  {line(finding.sentence)}")
        for cause in finding.causes[:1]:
            fault = f" (fault {line(cause.fault)})" if cause.fault else ""
            text.append(f"\n    {line(cause.hazard)}: {line(cause.detail)}{fault}", style="dim")
    more = group.count - min(len(group.shown), _SHOWN)
    if more:
        text.append(f"\n  and {plural(more, 'more', 'more')}", style="dim")
    return text


def _where(report: Report, folder: Path | None) -> list[tuple[str, str]]:
    lines = [("took", seconds(report.run.seconds))]
    if folder is not None:
        lines += [("report", str(folder / HTML_FILE)), ("data", str(folder / JSON_FILE))]
    return [*lines, ("repeat", report.run.repeat)]


def _table(title: str = "") -> Table:
    return Table(
        title=Text(title) if title else None,
        title_style="bold",
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="dim",
        padding=(0, 2, 0, 0),
    )


def _cell(row: SoakRow | None) -> Text:
    if row is None:
        return Text("–", style="dim")
    text = Text(row.verdict, style=_STYLES[row.verdict])
    if row.expected is False:
        text.append(" (unexpected)", style="bold red")
    return text


def _unexpected(rows: Sequence[SoakRow]) -> list[Text]:
    runs = {row.run for row in rows}
    wrong = {row.run: row for row in rows if row.expected is False}
    lines = [Text(f"{plural(len(runs), 'run')}, {len(runs) - len(wrong)} as expected")]
    lines += [
        Text(f"not as expected: seed {row.seed}, {line(row.scenario)}", style="bold red")
        for row in sorted(wrong.values(), key=lambda row: (row.seed, row.scenario))
    ]
    return lines
