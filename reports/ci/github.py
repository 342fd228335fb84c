"""GitHub's step summary and annotations, within their limits.

GitHub rejects a summary over 1 MiB, and shows no more than ten annotations of a kind per step. Both
are truncated here, with a note. The limits are from GitHub's page on workflow commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onceproof.reports.ci.case import Case
from onceproof.reports.text import cut, number, plural, seconds, visible

SUMMARY_BYTES: Final = 1_000_000
"""Below GitHub's limit of 1 MiB per step."""
ANNOTATIONS: Final = 10
"""GitHub's limit per kind and step."""
_MESSAGE: Final = 4_000
_MARKS: Final = {True: "✅", False: "❌"}
_TROUBLE: Final = "⚠️"


def annotated(cases: Sequence[Case]) -> list[str]:
    """Return workflow commands: an error for each finding, a warning for each trouble."""
    wrong = [case for case in cases if not case.expected]
    return [
        *_annotations("error", [case for case in wrong if not case.trouble]),
        *_annotations("warning", [case for case in wrong if case.trouble]),
    ]


def summary(cases: Sequence[Case]) -> str:
    """Return Markdown: a headline, the reasons for what is not as expected, and a table."""
    wrong = [case for case in cases if not case.expected]
    parts = [f"### onceproof: {_headline(cases, wrong)}\n\n"]
    parts += [_why(case) for case in wrong]
    parts += ["| | run | claim | verdict | seed | took |\n| --- | --- | --- | --- | --- | --- |\n"]
    parts += [_row(case) for case in (*wrong, *(case for case in cases if case.expected))]
    return _within(parts)


def _headline(cases: Sequence[Case], wrong: Sequence[Case]) -> str:
    if not cases:
        return "nothing was judged"
    if not wrong:
        return f"{plural(len(cases), 'claim')} as expected"
    found = sum(not case.trouble for case in wrong)
    return (
        f"{number(len(wrong))} of {plural(len(cases), 'claim')} not as expected: "
        f"{plural(found, 'finding')}, {number(len(wrong) - found)} undecided"
    )


def _why(case: Case) -> str:
    text = "\n".join(f"    {each}" for each in visible(cut(case.text, _MESSAGE)).splitlines())
    return f"**{_mark(case)} {_plain(case.run)}**\n\n{text}\n\n"


def _row(case: Case) -> str:
    cells = (
        _mark(case),
        _plain(case.run),
        _plain(case.claim),
        str(case.verdict or "none"),
        str(case.seed),
        seconds(case.seconds),
    )
    return f"| {' | '.join(cells)} |\n"


def _mark(case: Case) -> str:
    return _TROUBLE if case.trouble else _MARKS[case.expected]


def _plain(text: str) -> str:
    """Escape Markdown and HTML."""
    harmless = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+!|~" else c for c in harmless)


def _within(parts: Sequence[str]) -> str:
    room = SUMMARY_BYTES - 200
    taken: list[str] = []
    for part in parts:
        room -= len(part.encode())
        if room < 0:
            left = plural(len(parts) - len(taken), "part")
            taken.append(f"\n… {left} more omitted for length; the JUnit file is complete.\n")
            break
        taken.append(part)
    return "".join(taken)


def _annotations(kind: str, cases: Sequence[Case]) -> Iterator[str]:
    shown = cases if len(cases) <= ANNOTATIONS else cases[: ANNOTATIONS - 1]
    for case in shown:
        title = f"{case.run}: {case.verdict or 'no verdict'}"
        yield f"::{kind} title={_property(title)}::{_data(cut(case.text, _MESSAGE))}"
    if left := len(cases) - len(shown):
        yield f"::{kind} title=onceproof::{_data(f'{left} more, see the summary')}"


def _data(text: str) -> str:
    escaped = visible(text).replace("%", "%25")
    return escaped.replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
