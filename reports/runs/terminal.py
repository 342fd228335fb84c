"""Print an index in a terminal: a row for each scenario, with one character of trend per run."""

from __future__ import annotations

from typing import TextIO

from rich.table import Table
from rich.text import Text

from onceproof.reports.runs.claims import SameOutcomes
from onceproof.reports.runs.rows import Row, headline, rows
from onceproof.reports.runs.run import Found, RunState, Unread
from onceproof.reports.runs.strip import LEGEND, signs
from onceproof.reports.terminal import console
from onceproof.reports.text import line, plural


def print_index(found: Found, out: TextIO) -> None:
    """Print the table, the flaky scenarios, and the folders that could not be read."""
    to = console(out)
    scenarios = rows(found.runs)
    to.print(Text(f"{line(headline(scenarios, len(found.unread)))}.", style="bold"))
    if scenarios:
        to.print()
        to.print(_table(scenarios))
        to.print()
        to.print(Text(f"runs, oldest first: {LEGEND}", style="dim"))
    for row in scenarios:
        if row.flaky is not None:
            seed = "with the same seed" if row.flaky.same_seed else "across seeds"
            to.print()
            to.print(Text(f"flaky, {seed}: {_name(row)}", style="bold yellow"))
            for says in row.flaky.says:
                to.print(Text(f"  {line(says)}"))
    if found.unread:
        to.print()
        to.print(Text(f"{plural(len(found.unread), 'folder')} not in the table", style="bold"))
    for unread in found.unread:
        to.print(Text(f"  {line(str(unread.folder))}{_scenario_of(unread)}"), soft_wrap=True)
        to.print(Text(f"    {line(unread.reason)}", style="dim"))


def _table(scenarios: tuple[Row, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("scenario", overflow="fold", ratio=5)
    table.add_column("claims", overflow="fold", ratio=6)
    table.add_column("as expected", overflow="fold", ratio=2)
    table.add_column("trend", overflow="fold", ratio=3)
    table.add_column("took", overflow="fold", ratio=2)
    for row in scenarios:
        name = Text(_name(row))
        name.append(f"\n{row.seeds}", style="dim")
        claims = Text("\n").join(_claims(same) for same in row.claims) if row.claims else Text("–")
        wrong = row.newest.state is RunState.UNEXPECTED
        expected = Text(row.expected, style="bold red" if wrong else "")
        if row.flaky is not None:
            expected.append("\nflaky", style="bold yellow")
        table.add_row(name, claims, expected, Text(signs(row.runs)), Text(row.took))
    return table


def _name(row: Row) -> str:
    newest = row.newest
    backend = "" if newest.backend == "local" else f" ({newest.backend})"
    return line(f"{newest.scenario}{backend}" + (f": {newest.own}" if newest.own else ""))


def _claims(same: SameOutcomes) -> Text:
    text = Text(f"{line('; '.join(same.names))}: ", style="dim")
    for place, outcome in enumerate(same.outcomes):
        times = f" ×{outcome.count}" if len(same.outcomes) > 1 else ""
        expectation = "" if outcome.expected else f", should be {outcome.should_be}"
        text.append(", " if place else "")
        style = "not dim" if outcome.expected else "bold red not dim"
        text.append(line(f"{outcome.verdict}{times}{expectation}"), style)
    return text


def _scenario_of(unread: Unread) -> str:
    return f" ({line(unread.scenario)})" if unread.scenario else ""
