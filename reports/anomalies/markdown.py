"""Write the reference of all anomalies as Markdown, `docs/reference/anomalies.md`.

    python -m onceproof.reports.anomalies.markdown > docs/reference/anomalies.md

Texts from an anomaly's file may contain Markdown's backticks and stars; angle brackets and pipes
are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from onceproof.reports.anomalies.entry import HOPS, LEAD, Entry, by_hop
from onceproof.reports.anomalies.tables import WRONG, HistoryTable, tables_of
from onceproof.reports.anomalies.trial import Trial

COMMAND: Final = "python -m onceproof.reports.anomalies.markdown"
_READING: Final = (
    "The tables show a minimal history with the anomaly, judged by the checkers. Rows marked "
    f"{WRONG} are the witness that the checkers found."
)
_PIECES = re.compile(r"(`[^`]*`)")


def document() -> str:
    """Return the page. Every minimal history is judged again."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    hops = by_hop()
    yield f"<!-- Written by `{COMMAND}` from checkers/anomalies/. -->"
    yield ""
    yield "# Anomalies"
    yield ""
    yield (
        f"{LEAD} In a terminal, use `onceproof explain NAME`. The site that `make docs` builds has "
        "the same with pictures."
    )
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
    yield "## Which anomalies imply which others"
    yield ""
    yield (
        "One error can show as several anomalies. Each line lists what an anomaly *may* directly "
        "imply:"
    )
    yield ""
    for entries in hops.values():
        for entry in entries:
            if entry.implies:
                yield f"* {_link(entry.name)} → {', '.join(map(_link, entry.implies))}"
    yield ""
    yield "## Each anomaly"
    yield ""
    yield _READING
    for entries in hops.values():
        for entry in entries:
            yield from _section(entry, entry.trial())


def _section(entry: Entry, trial: Trial | None) -> Iterator[str]:
    anomaly = entry.anomaly
    yield ""
    yield f"### {entry.name}"
    yield ""
    yield _prose(anomaly.definition)
    if trial is not None:
        for table in tables_of(trial):
            yield from _table(table)
        for sentence in trial.sentences:
            yield ""
            yield f"{WRONG} {_prose(sentence)}"
    yield ""
    yield f"* For example: {_prose(anomaly.example)}."
    if entry.hint:
        yield f"* Usual cause: {_prose(entry.hint)}"
    yield from _advice(entry)
    yield f"* Hop: {entry.hop}."
    yield f"* Refutes: {entry.refuted}."
    yield f"* Proven by {anomaly.evidence.value}: {entry.evidence}."
    if entry.implies:
        yield f"* May imply: {', '.join(map(_link, entry.implies))}."
    if entry.implied_by:
        yield f"* May be implied by: {', '.join(map(_link, entry.implied_by))}."
    yield f"* Source: {_prose(anomaly.source)}."
    yield ""
    if entry.minimal:
        yield from _details("This history as code", "python", entry.code())
    yield from _details(f"The query (<code>{entry.file}</code>)", "sql", anomaly.sql.strip())


def _advice(entry: Entry) -> Iterator[str]:
    if entry.advice:
        yield "* What to do:"
    for systems, step in entry.advice:
        page = "" if step.page is None else f" See [{step.page}](../{step.page})."
        before = "" if systems is None else f"{systems}: "
        yield f"    * {before}{_prose(step.text)}{page}"


def _table(table: HistoryTable) -> Iterator[str]:
    yield ""
    yield f"`{table.name}`"
    yield ""
    for row in (table.columns, ("---",) * len(table.columns), *table.rows):
        yield f"| {' | '.join(map(_cell, row))} |"


def _details(summary: str, language: str, code: str) -> Iterator[str]:
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
    """Escape all Markdown but backticks and stars."""
    return "".join(
        piece if piece.startswith("`") else piece.replace("<", "&lt;").replace(">", "&gt;")
        for piece in _PIECES.split(text)
    )


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|")


if __name__ == "__main__":
    print(document(), end="")  # noqa: T201
