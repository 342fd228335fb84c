"""One anomaly explained in a terminal, or all of them in a line each.

It reads the same without colour, in a pipe, and where a terminal knows
nothing but ASCII.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from rich.text import Text

from onceproof.reports.anomalies.canvas import Tone, in_ascii
from onceproof.reports.anomalies.entry import HOPS, Entry, by_hop
from onceproof.reports.anomalies.names import harmless
from onceproof.reports.anomalies.picture import WIDTH, text_picture
from onceproof.reports.terminal import console, is_terminal
from onceproof.reports.text import line

_STYLES: Final = {Tone.PLAIN: "", Tone.TITLE: "dim", Tone.WRONG: "bold red"}
_LABEL = 13
_LEAST = 30


def print_entry(entry: Entry, out: TextIO) -> None:
    """Everything about one anomaly."""
    to = console(out)
    width = max(_LEAST, min(WIDTH, to.width))
    for told in _entry(entry, width):
        to.print(told if _speaks_unicode(out) else _translated(told), soft_wrap=True)


def print_list(out: TextIO) -> None:
    """A line for each anomaly, by hop."""
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
    lines.append(Text("`onceproof explain NAME` shows one of them."))
    for told in lines:
        to.print(told if _speaks_unicode(out) else _translated(told), soft_wrap=True)


def _entry(entry: Entry, width: int) -> Iterator[Text]:
    yield Text.assemble((entry.name, "bold"), f"  ({entry.hop})")
    yield from _wrapped(line(entry.anomaly.definition), width)
    yield Text()
    scene = entry.scene()
    if scene is not None:
        for pieces in text_picture(scene, width):
            yield Text.assemble(*((piece.text, _STYLES[piece.tone]) for piece in pieces))
        if not scene.sentences:
            yield from _wrapped(f"The checkers do not find {entry.name} in this history.", width)
        yield Text()
    for label, told in _facts(entry):
        if told:
            yield from _labelled(label, harmless(told), width)


def _facts(entry: Entry) -> Sequence[tuple[str, str]]:
    return (
        ("example", entry.anomaly.example),
        ("usual cause", entry.hint),
        ("refutes", entry.refuted),
        ("proven by", f"{entry.anomaly.evidence.value}: {entry.evidence}"),
        ("may bring", ", ".join(entry.brings)),
        ("may be from", ", ".join(entry.brought_by)),
        ("source", entry.anomaly.source),
        ("file", entry.file),
    )


def _labelled(label: str, told: str, width: int) -> Iterator[Text]:
    parts = textwrap.wrap(
        told, max(12, width - _LABEL), break_on_hyphens=False, break_long_words=False
    )
    for number, part in enumerate(parts):
        yield Text.assemble((f"{label if not number else '':<{_LABEL}}", "dim"), part)


def _wrapped(told: str, width: int) -> Iterator[Text]:
    return (
        Text(part)
        for part in textwrap.wrap(told, width, break_on_hyphens=False, break_long_words=False)
    )


def _speaks_unicode(out: TextIO) -> bool:
    try:
        "┏✗▼".encode(getattr(out, "encoding", None) or "utf-8")
    except (UnicodeError, LookupError):
        return False
    return True


def _translated(told: Text) -> Text:
    """With what ASCII has; every character stays one, so the styles still fit."""
    return Text(in_ascii(told.plain), style=told.style, spans=told.spans)
