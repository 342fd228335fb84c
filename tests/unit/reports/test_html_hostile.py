"""Hostile contents stay text: the page has the same elements as one of harmless contents."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from onceproof.checkers.model import Judgement, Scope, Verdict
from onceproof.reports.build import build
from onceproof.reports.html import render
from onceproof.reports.log_files import Line, Lines
from onceproof.reports.model import Report
from tests.unit.reports.test_html import HOSTILE, assert_harmless

HARMLESS = "a harmless text"
PAYLOADS = [
    *HOSTILE,
    "</script><img src=x onerror=alert(1)>",
    "<script src=data:,alert(1)></script>",
    "javascript:alert(1)",
    '" href="javascript:alert(1)" x="',
    "'><svg/onload=alert(1)>",
    "--><svg/onload=alert(1)>",
    "]]><script>alert(1)</script>",
    "<style>*{display:none}</style>",
    "} body { display: none } /*",
    "url(javascript:alert(1))",
    "<base href=//evil><meta http-equiv=refresh content='0;url=//evil'>",
    "<details open ontoggle=alert(1)>",
    "<math><mtext></table></math><img src=x onerror=alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea></textarea><plaintext>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "{{ config }}{{7*7}}{% include '/etc/passwd' %}${7*7}#{7*7}",
    "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07\x1b[2J",
    "\u2067\u202e\u2066reversed\u2069\u200b\u200d\ufeff\u2028\u2029",
    "\x00\x01\x02\x7f\x80\x9f",
    "lone \udc80 surrogate",
    "x" * 1_000_000,
    "<" * 100_000,
    "%s%n%x {0} {payload!r} {__class__}",
    "F1\n\n<li>",
]
OWN_WORDS = {"clock", "outcome", "role", "by"}
"""Columns whose values are the product's own words instead of contents."""


class Shape(HTMLParser):
    """Elements and the names of their attributes, in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Only labels that do not fit in their bar have this attribute.
        names = (name for name, _ in attrs if name != "visibility")
        self.found.append((tag, tuple(names)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def filled(table: pa.Table, payload: str) -> pa.Table:
    """Return the table with the payload in every text column that holds contents."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and field.name not in OWN_WORDS:
            if field.name == "kind" and "committed" in table.column_names:
                continue  # of a log entry: data, commit, abort
            if field.name == "kind" and "role" in table.column_names:
                continue  # of a position: planned, done
            if field.name == "phase":
                continue
            text = payload.encode("utf-8", "backslashreplace").decode()
            table = table.set_column(place, field, pa.array([text] * table.num_rows, field.type))
    return table


def report_of(small: SimpleNamespace, payload: str) -> Report:
    """A report in which the payload replaces all contents."""
    text = payload.encode("utf-8", "backslashreplace").decode()
    history: dict[str, Any] = small.history(text)
    history["txns"] = small.arrow(
        "txns",
        [{"began_at": small.ns(9), "ended_at": small.ns(12), "outcome": "aborted"}],
    )
    history["reads"] = small.arrow(
        "reads", [{"ordinal": 0, "partition": 0, "offset": 4, "at": small.ns(12)}]
    )
    # The positions pass the record's offset, and the ranges include it.
    for name, moved in (("positions", {"offset": 900}), ("ranges", {"end_offset": 900})):
        rows = history[name].to_pylist()
        history[name] = small.arrow(name, [row | moved | {"partition": 1} for row in rows])
    # Add a fault that is too short to be visible.
    (fault,) = history["faults"].to_pylist()
    brief = fault | {"injected_at": small.ns(17), "healed_at": small.ns(17.001)}
    history["faults"] = small.arrow("faults", [fault, brief])
    history = {name: filled(table, text) for name, table in history.items()}
    judgement = small.judgement(history, text)
    scope = Scope(input=text, sink=text, view=text)
    key = {"sink": text, "view": text, "record": text}
    found = small.duplicates(history, [text, text], 9)
    judgement = Judgement(
        claims=tuple(
            replace(one, claim=replace(one.claim, scope=scope))
            for one in (*judgement.claims, small.judged(text, Verdict.UNKNOWN, reason=text))
        ),
        findings=(replace(found, shown=tuple(replace(f, key=key) for f in found.shown)),),
        mutation_check=judgement.mutation_check,
        notes=(payload,),
        counts={text: 1, "effects": 4},
    )
    record = small.record(
        title=text, repeat=text, subject_says=text, scenario=text, run=text, subject=text,
        configuration={text: {text: [text]}}, host={text: text}, versions={text: text},
        workload={text: text},
    )  # fmt: skip
    lines = Lines(log=f"{text}.log", lines=(Line(at=15.0, text=text[:500]),), count=7)
    logs = SimpleNamespace(around=lambda *_: (lines,), silent=(text,), refused=())
    return build(record, history, judgement, logs)  # type: ignore[arg-type]


@pytest.fixture
def harmless(small: SimpleNamespace) -> Shape:
    return Shape(render(report_of(small, HARMLESS)))


def test_harmless_text_appears_in_every_part(harmless: Shape) -> None:
    """Otherwise the comparison below would be vacuous."""
    words = "".join(harmless.words)
    assert words.count(HARMLESS) > 100
    parts = (
        "transactional id",
        "the position of",
        "execution",
        "logs/",
        "have no timestamps",
        "written",
    )
    for place in parts:
        assert place in words


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda text: ascii(text[:24]))
def test_contents_add_no_elements_or_attributes(
    small: SimpleNamespace, harmless: Shape, payload: str
) -> None:
    html = render(report_of(small, payload))
    assert_harmless(html)
    assert Shape(html).found == harmless.found
    assert len(html) < 2_000_000


def test_policy_allows_only_its_own_script_and_style(small_report: Report) -> None:
    html = render(small_report)
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert found is not None
    policy = dict(part.strip().split(" ", 1) for part in found[1].replace("&#39;", "'").split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["base-uri"] == policy["form-action"] == "'none'"
    for element, rule in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(rf"<{element}>(.*?)</{element}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[rule] == f"'sha256-{digest}'"
    assert "unsafe" not in found[1]
    assert " style=" not in html
