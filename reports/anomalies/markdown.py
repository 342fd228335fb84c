"""The reference of all anomalies as Markdown, pictures drawn with characters.

What comes from an anomaly's file is written for people and may hold
backticks and stars, which mean here what they mean there; angle brackets and pipes are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from onceproof.checkers.model import Hop
from onceproof.reports.anomalies.canvas import plain
from onceproof.reports.anomalies.entry import HOPS, Entry
from onceproof.reports.anomalies.picture import text_picture
from onceproof.reports.anomalies.scene import Scene

_PIECES = re.compile(r"(`[^`]*`)")


def lines(
    hops: Mapping[Hop, tuple[Entry, ...]],
    scenes: Mapping[str, Scene | None],
    lead: str,
    reading: str,
) -> Iterator[str]:
    """The lines of the document."""
    yield (
        "<!-- Written by `python -m onceproof.reports.anomalies.page` from checkers/anomalies/. -->"
    )
    yield ""
    yield "# Anomalies"
    yield ""
    yield f"{lead} In a terminal: `onceproof explain NAME`."
    for hop, entries in hops.items():
        yield ""
        yield f"## On the hop {HOPS[hop]}"
        yield ""
        yield "| name | proven by | refutes | definition |"
        yield "| --- | --- | --- | --- |"
        for entry in entries:
            refutes = ", ".join(entry.refutes) or "–"
            definition = _cell(entry.anomaly.definition)
            yield (
                f"| [{entry.name}](#{_anchor(entry.name)}) | {entry.anomaly.evidence.value} | "
                f"{refutes} | {definition} |"
            )
    yield ""
    yield "## What brings what"
    yield ""
    yield (
        "One thing that goes wrong can show as several. This is what an anomaly *may* bring with "
        "it, directly:"
    )
    yield ""
    for entries in hops.values():
        for entry in entries:
            if entry.brings:
                yield f"* {_link(entry.name)} → {', '.join(map(_link, entry.brings))}"
    yield ""
    yield "## One by one"
    yield ""
    yield reading
    for entries in hops.values():
        for entry in entries:
            yield from _one(entry, scenes[entry.name])


def _one(entry: Entry, scene: Scene | None) -> Iterator[str]:
    anomaly = entry.anomaly
    yield ""
    yield f"### {entry.name}"
    yield ""
    yield _prose(anomaly.definition)
    if scene is not None:
        yield ""
        yield "```text"
        yield plain(text_picture(scene))
        yield "```"
    yield ""
    yield f"* For example: {_prose(anomaly.example)}."
    if entry.hint:
        yield f"* Usual cause: {_prose(entry.hint)}"
    yield f"* Hop: {entry.hop}."
    yield f"* Refutes: {entry.refuted}."
    yield f"* Proven by {anomaly.evidence.value}: {entry.evidence}."
    if entry.brings:
        yield f"* May bring: {', '.join(map(_link, entry.brings))}."
    if entry.brought_by:
        yield f"* May come from: {', '.join(map(_link, entry.brought_by))}."
    yield f"* Source: {_prose(anomaly.source)}."
    yield ""
    if entry.minimal:
        yield from _folded("This history as code", "python", entry.code())
    yield from _folded(f"The query (<code>{entry.file}</code>)", "sql", anomaly.sql.strip())


def _folded(summary: str, language: str, code: str) -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield f"```{language}"
    yield code
    yield "```"
    yield ""
    yield "</details>"


def _link(name: str) -> str:
    return f"[{name}](#{_anchor(name)})"


def _anchor(name: str) -> str:
    return name.lower()


def _prose(text: str) -> str:
    """Text in which nothing but backticks and stars is special."""
    return "".join(
        piece if piece.startswith("`") else piece.replace("<", "&lt;").replace(">", "&gt;")
        for piece in _PIECES.split(text)
    )


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|")
