"""Print the judgement of a foreign history on standard output.

It does not use rich, whose import takes longer than judging a small history. Control sequences in a
history never reach the terminal.
"""

from __future__ import annotations

import io
import os
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from onceproof.checkers.model import Findings, Hop, Judgement, Row, Verdict
from onceproof.reports.text import UNSEALED, cut, line, number, plural

__all__ = ["print_judgement"]

_COLOURS: Final = {
    Verdict.VIOLATED: "1;31",
    Verdict.INVALID: "1;35",
    Verdict.STALLED: "33",
    Verdict.UNKNOWN: "33",
    Verdict.UNEXERCISED: "36",
    Verdict.HOLDS: "32",
}
_BOLD: Final = "1"
_DIM: Final = "2"
_WIDTH: Final = 120
_SHOWN: Final = 2
"""Findings per anomaly."""
_ROWS: Final = 4
"""Rows per witness."""
_VALUE: Final = 60


def print_judgement(
    judgement: Judgement, out: TextIO, *, source: str, notes: Sequence[str] = ()
) -> None:
    """Print verdicts, findings with witnesses, what is undecided, and what would decide it.

    `notes` are assumptions made when reading the history.
    """
    if isinstance(out, io.TextIOWrapper):  # arrows must not raise without UTF-8
        out.reconfigure(errors="backslashreplace")
    page = _Page(out)
    page.text(f"{line(source)}: {_headline(judgement)}", _BOLD)
    if judgement.unsealed:
        page.paragraph(f"{UNSEALED}: {judgement.unsealed}.", "", "1;31")
    page.text("")
    _claims(page, judgement)
    for group in judgement.findings:
        page.text("")
        _findings(page, group)
    sections = (
        ("Undecided", list(_undecided(judgement))),
        ("Mutation self-check failed, mutations not found", _missed(judgement)),
        ("Notes", [*notes, *judgement.notes]),
        ("How to decide more", list(_advice(judgement))),
    )
    for title, items in sections:
        if items:
            page.text("")
            page.text(title, _BOLD)
            for item in items:
                page.paragraph(item, "  ")


class _Page:
    """Wrapped lines, in colour only on a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        terminal = out.isatty() and os.environ.get("TERM") != "dumb"
        self._colour = terminal and not os.environ.get("NO_COLOR")
        self.width = shutil.get_terminal_size((_WIDTH, 24)).columns if terminal else _WIDTH

    def styled(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._colour and text else text

    def text(self, text: str, style: str = "") -> None:
        print(self.styled(text, style) if style else text, file=self._out)

    def paragraph(self, text: str, indent: str, style: str = "") -> None:
        for part in self.wrapped(line(text), self.width - len(indent)):
            self.text(indent + part, style)

    def wrapped(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, max(width, 30), break_on_hyphens=False) or [""]


def _headline(judgement: Judgement) -> str:
    verdicts = [judged.verdict for judged in judgement.claims]
    counts = [f"{verdicts.count(v)} {v.value}" for v in Verdict if v in verdicts]
    return f"{plural(len(verdicts), 'claim')}: {', '.join(counts)}" if counts else "no claims"


def _claims(page: _Page, judgement: Judgement) -> None:
    names = _names(judgement)
    first = max((len(name) for name in names), default=0) + 2
    second = max(len(verdict.value) for verdict in Verdict) + 2
    for name, judged in zip(names, judgement.claims, strict=True):
        head = f"{name:<{first}}{page.styled(judged.verdict.value, _COLOURS[judged.verdict])}"
        head += " " * (second - len(judged.verdict.value))
        why = page.wrapped(line(judged.reason), page.width - first - second)
        page.text(head + why[0])
        for more in why[1:]:
            page.text(" " * (first + second) + more)


def _names(judgement: Judgement) -> list[str]:
    """Return the claims' names, with the view appended where a name is not unique."""
    claims = [judged.claim for judged in judgement.claims]
    times = Counter(claim.name for claim in claims)
    views = [claim.scope.view if times[claim.name] > 1 else None for claim in claims]
    return [
        line(f"{claim.name}@{view}" if view else claim.name)
        for claim, view in zip(claims, views, strict=True)
    ]


def _findings(page: _Page, group: Findings) -> None:
    page.text(f"{page.styled(line(group.anomaly), _BOLD)}: {plural(group.count, 'finding')}")
    for finding in group.shown[:_SHOWN]:
        page.paragraph(finding.sentence, "  ")
        for row in finding.witness[:_ROWS]:
            page.paragraph(_row(row), "    ", _DIM)
        if (more := len(finding.witness) - _ROWS) > 0:
            page.text(f"    and {plural(more, 'row')} more", _DIM)
    if (more := group.count - min(len(group.shown), _SHOWN)) > 0:
        page.text(f"  and {number(more)} more", _DIM)


def _row(row: Row) -> str:
    return ", ".join(
        f"{name} {cut(line(str(value)), _VALUE)}"
        for name, value in row.items()
        if value not in (None, "") and name != "trial"
    )


def _undecided(judgement: Judgement) -> Iterator[str]:
    """Yield a line for each set of undecided anomalies, with the claims that share it."""
    found: dict[tuple[str, ...], list[str]] = {}
    for judged in judgement.claims:
        if judged.undecided and judged.verdict is not Verdict.VIOLATED:
            found.setdefault(judged.undecided, []).append(judged.claim.name)
    for anomalies, claims in found.items():
        yield f"{', '.join(claims)}: {', '.join(anomalies)}"


def _missed(judgement: Judgement) -> list[str]:
    """Return mutations that were not found, if that made a claim invalid."""
    if all(judged.verdict is not Verdict.INVALID for judged in judgement.claims):
        return []
    return [f"{w.name} in {w.target}: {w.detail}" for w in judgement.mutation_check if not w.found]


def _advice(judgement: Judgement) -> Iterator[str]:
    """Yield what to add to the history to get a better verdict than unknown."""
    verdicts = {judged.verdict for judged in judgement.claims}
    counts = judgement.counts
    if Verdict.UNKNOWN in verdicts and not counts.get("phases"):
        yield (
            "Add the table phases with rows settle and collect, outcome ok, if the pipeline had "
            "settled and every log and sink was then read to its end. Without these rows, missing "
            "records prove nothing."
        )
    if verdicts & {Verdict.UNEXERCISED, Verdict.UNKNOWN} and not counts.get("hazards"):
        yield (
            "Add the table hazards with the events that put the claims to the test, such as a "
            "retried send, a replayed batch or a commit whose response was lost. Without hazards, "
            "a claim that is not refuted remains untested."
        )
    if Verdict.INVALID in verdicts:
        tables = {"log": "the entries of the topics"}
        if any(judged.claim.hop is not Hop.PRODUCE for judged in judgement.claims):
            tables["effects"] = "the output of the pipeline"
        for table, words in tables.items():
            if not counts.get(table):
                yield f"Add the table {table}: {words}."
    if _missed(judgement):
        yield (
            "Fill the columns that the mutations above need, such as digest in log and sends. "
            "Where they are NULL, the checkers cannot detect the anomaly that a mutation causes."
        )
