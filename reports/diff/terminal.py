"""Print a `Diff` in a terminal, shortened; the page and the JSON have everything."""

from __future__ import annotations

from typing import Final, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from onceproof.reports.diff.model import (
    Change,
    ClaimPair,
    ClaimVerdict,
    Diff,
    FoundPair,
    Outcome,
    Status,
)
from onceproof.reports.diff.summary import (
    BAD,
    GOOD,
    OPEN,
    TIMING,
    UNKNOWN,
    amount,
    headline,
    not_listed,
    reasons,
    sections,
    shapes,
    status_groups,
)
from onceproof.reports.terminal import console
from onceproof.reports.text import cut, line, listed, plural

_NAMES: Final = 4
_SHAPES: Final = 4
_DIFFERENCES: Final = 12
_VALUE: Final = 70


def print_diff(diff: Diff, out: TextIO) -> None:
    to = console(out)
    for letter, which in (("A", diff.a), ("B", diff.b)):
        to.print(Text(f"{letter}  {line(which.name)}"), soft_wrap=True)
        if which.limits:
            to.print(Text(f"   findings missing here prove nothing: {line(which.limits)}"))
    to.print()
    to.print(Text(f"{line(headline(diff))}.", style="bold"))
    if diff.outcome is Outcome.NOT_COMPARABLE:
        return
    to.print()
    to.print(_claims(diff.claims))
    _reasons(to, diff.claims)
    _findings(to, diff)
    _circumstances(to, diff)


def _claims(claims: tuple[ClaimPair, ...]) -> Table:
    table = _table("claim", "A", "B", "")
    for pair in claims:
        became = Text(str(pair.change), style=_style(pair.change))
        table.add_row(Text(line(pair.name)), _cell(pair.a), _cell(pair.b), became)
    return table


def _reasons(to: Console, claims: tuple[ClaimPair, ...]) -> None:
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for pair in claims:
        if found := reasons(pair):
            alike.setdefault(found, []).append(pair.name)
    for found, names in alike.items():
        to.print()
        to.print(Text(line(listed(names))))
        for letter, reason in found:
            to.print(Text(f"  {letter}: {line(reason)}", style="dim"))


def _cell(claim: ClaimVerdict | None) -> Text:
    if claim is None:
        return Text("–")
    by = f" by {listed(claim.refuted_by)}" if claim.refuted_by else ""
    unexpected = "" if claim.expected is not False else ", not as expected"
    return Text(line(f"{claim.verdict}{by}{unexpected}"))


def _findings(to: Console, diff: Diff) -> None:
    to.print()
    how = "record by record" if diff.by_record else "by anomaly and place"
    to.print(Text(f"Findings, {how}", style="bold"))
    to.print(Text(line(diff.by_why), style="dim"))
    for pair in diff.findings:
        to.print()
        text = Text(line(pair.anomaly), style="bold")
        text.append(f" in {line(pair.place)}: ", style="not bold")
        text.append(str(pair.status), style=_style(pair.status))
        text.append(f", {amount(pair.a)} → {amount(pair.b)}", style="not bold")
        to.print(text)
        if pair.because:
            to.print(Text(f"  {line(pair.because)}"))
        _records(to, pair)
        _shapes(to, pair)
    if not diff.findings:
        to.print(Text("No findings in either run."))
    elif any(pair.of(Status.NEW) for pair in diff.findings if pair.status is Status.STILL_THERE):
        to.print()
        to.print(Text(TIMING, style="dim"))


def _records(to: Console, pair: FoundPair) -> None:
    for group in status_groups(pair):
        names = ", ".join(line(name) for name in group.names[:_NAMES])
        more = f" and {len(group.names) - _NAMES} more" if len(group.names) > _NAMES else ""
        text = Text("  ")
        text.append(f"{len(group.names)} {group.status}", style=_style(group.status))
        text.append(f": {names}{more}")
        to.print(text)
        if group.because and group.because != pair.because:
            to.print(Text(f"    {line(group.because)}", style="dim"))
    if pair.records and (unlisted := not_listed(pair)):
        to.print(Text(f"  {unlisted}: the others cannot be compared one by one", style="dim"))


def _shapes(to: Console, pair: FoundPair) -> None:
    for shape in shapes(pair)[:_SHAPES]:
        text = f"  {line(shape.says)}: {shape.a} → {shape.b} of the listed findings"
        to.print(Text(text, style="dim"))
    if (more := len(shapes(pair)) - _SHAPES) > 0:
        to.print(Text(f"  and {plural(more, 'other kind')}", style="dim"))


def _circumstances(to: Console, diff: Diff) -> None:
    to.print()
    if not diff.known:
        to.print(Text(UNKNOWN))
    if not diff.differences:
        to.print(Text("No known differences between the runs themselves.", style="bold"))
        return
    to.print(Text("Differences between the runs that may explain it", style="bold"))
    for section, found in sections(diff):
        table = _table(section, "A", "B")
        for difference in found[:_DIFFERENCES]:
            values = (difference.a, difference.b)
            cells = (Text("–" if v is None else cut(line(v), _VALUE)) for v in values)
            table.add_row(Text(f"  {line(difference.name)}"), *cells)
        to.print(table)
        if (more := len(found) - _DIFFERENCES) > 0:
            to.print(Text(f"  and {more} more", style="dim"))


def _style(became: Status | Change) -> str:
    if became in BAD:
        return "bold red"
    if became in GOOD:
        return "green"
    return "yellow" if became in OPEN else ""


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(Text(line(column)), overflow="fold")
    return table
