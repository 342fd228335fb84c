"""Print one anomaly, or a list of all, in a terminal, also without colour or in ASCII."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from rich.table import Table
from rich.text import Text

from onceproof.reports.anomalies.entry import HOPS, Entry, by_hop
from onceproof.reports.anomalies.names import harmless
from onceproof.reports.anomalies.tables import WRONG, HistoryTable, tables_of
from onceproof.reports.terminal import console, is_terminal
from onceproof.reports.text import line

_ASCII: Final = str.maketrans(
    {WRONG: "x", "→": ">", "…": "~", "–": "-", "«": '"', "»": '"', "×": "x", "\u00a0": " "}
)
_WRONG: Final = "bold red"
_WIDTH = 78
_LABEL = 13
_LEAST = 30


def print_entry(entry: Entry, out: TextIO) -> None:
    to = console(out)
    width = max(_LEAST, min(_WIDTH, to.width))
    for part in _entry(entry, width):
        if isinstance(part, HistoryTable):
            to.print(_table(part, out), width=width)
            to.print()
        else:
            to.print(_encodable(part, out), soft_wrap=True)


def print_list(out: TextIO) -> None:
    to = console(out)
    room = to.width if is_terminal(out) else None
    hops = by_hop()
    widest = max(len(entry.name) for entries in hops.values() for entry in entries)
    lines = []
    for hop, entries in hops.items():
        lines.append(Text(HOPS[hop], style="bold"))
        for entry in entries:
            text = f"  {entry.name:<{widest}}  {line(entry.anomaly.definition)}"
            if room is not None and len(text) > room:
                text = f"{text[: max(1, room - 1)].rstrip()}…"
            lines.append(Text(text))
        lines.append(Text())
    lines.append(Text("`onceproof explain NAME` explains one anomaly."))
    for shown in lines:
        to.print(_encodable(shown, out), soft_wrap=True)


def _entry(entry: Entry, width: int) -> Iterator[Text | HistoryTable]:
    yield Text.assemble((entry.name, "bold"), f"  ({entry.hop})")
    yield from _wrapped(line(entry.anomaly.definition), width)
    yield Text()
    trial = entry.trial()
    if trial is not None:
        yield from tables_of(trial)
        for sentence in trial.sentences:
            yield from _wrapped(f"{WRONG} {sentence}", width, style=_WRONG)
        if not trial.sentences:
            yield from _wrapped(f"The checkers do not find {entry.name} in this history.", width)
        yield Text()
    for label, text in _facts(entry):
        if text:
            yield from _labelled(label, harmless(text), width)


def _facts(entry: Entry) -> Sequence[tuple[str, str]]:
    return (
        ("example", entry.anomaly.example),
        ("usual cause", entry.hint),
        *(
            ("what to do" if not number else "", f"{systems or 'any system'}: {step.text}")
            for number, (systems, step) in enumerate(entry.advice)
        ),
        ("refutes", entry.refuted),
        ("proven by", f"{entry.anomaly.evidence.value}: {entry.evidence}"),
        ("may imply", ", ".join(entry.implies)),
        ("implied by", ", ".join(entry.implied_by)),
        ("source", entry.anomaly.source),
        ("file", entry.file),
    )


def _labelled(label: str, text: str, width: int) -> Iterator[Text]:
    parts = textwrap.wrap(
        text, max(12, width - _LABEL), break_on_hyphens=False, break_long_words=False
    )
    for number, part in enumerate(parts):
        yield Text.assemble((f"{label if not number else '':<{_LABEL}}", "dim"), part)


def _table(history: HistoryTable, out: TextIO) -> Table:
    table = Table(
        title=history.name,
        title_justify="left",
        title_style="",
        header_style="dim",
        box=None,
    )
    for column in history.columns:
        table.add_column(column, overflow="fold")
    for row in history.rows or [("no rows",)]:
        table.add_row(
            *(_encodable(Text(cell), out) for cell in row), style=_WRONG if row[0] == WRONG else ""
        )
    return table


def _wrapped(text: str, width: int, *, style: str = "") -> Iterator[Text]:
    return (
        Text(part, style=style)
        for part in textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
    )


def _encodable(text: Text, out: TextIO) -> Text:
    """Replace what the output cannot encode, character by character, so that styles still fit."""
    try:
        f"{WRONG}→…".encode(getattr(out, "encoding", None) or "utf-8")
    except (UnicodeError, LookupError):
        return Text(text.plain.translate(_ASCII), style=text.style, spans=text.spans)
    return text
