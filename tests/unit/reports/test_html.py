"""The report page: well-formed, harmless for any contents, self-contained, complete."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.checkers.model import Judgement, Verdict
from onceproof.reports import html
from onceproof.reports.build import build
from onceproof.reports.html import render
from onceproof.reports.html.folding import folded
from onceproof.reports.html.story import cause_story, story
from onceproof.reports.model import Report

HOSTILE = [
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\"' onmouseover=alert(1) x='",
    "</title></svg></table><iframe src=//evil>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe\u2066",
    "nul\x00bell\x07esc\x1b[31m",
    "https://evil.example/",
    "<!-- --> ]]> &amp; &#0;",
]
SCRIPT = (Path(html.__file__).parent / "timeline.js").read_text()
VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """The tags, texts and scripts of a page; fails on mismatched tags."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"an attribute twice: {attrs}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" in self.open:
            self.scripts.append(data)
        elif "style" not in self.open:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


def assert_harmless(html: str) -> Page:
    page = Page(html)
    # The only script is the report's own, unchanged and without attributes.
    assert page.scripts == [SCRIPT]
    assert [attributes for tag, attributes in page.tags if tag == "script"] == [{}]
    allowed = {"class", "id", "href", "content", "name", "http-equiv", "charset", "lang"}
    allowed |= {"aria-label", "data-x"}
    for tag, attributes in page.tags:
        assert tag not in {"img", "iframe", "link", "object", "embed", "base", "use"}
        assert not any(name.startswith("on") or name == "src" for name in attributes)
        assert attributes.get("href", "#").startswith("#")  # type: ignore[union-attr]
        if tag in {"meta", "html", "a", "header"}:
            assert set(attributes) <= allowed
    css = html[html.index("<style>") : html.index("</style>")]
    drawn = [str(attributes.get("fill", "")) for _, attributes in page.tags]
    for place in re.findall(r"url\(([^)]*)\)", " ".join([css, *drawn])):
        assert place.startswith("#")
    assert "@import" not in css
    assert "http" not in css
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", html)
    return page


def test_page_is_well_formed_and_small(small_report: Report) -> None:
    html = render(small_report)
    assert_harmless(html)
    assert "http:" not in html
    assert "https:" not in html
    assert len(html.encode()) < 100_000


def test_page_shows_everything_in_order(small_report: Report) -> None:
    page = Page(render(small_report))
    order = [
        "Not exactly once: 1 record of payments appears more than once in ledger",
        "exactly-once payments → ledger",
        "What exactly is promised?",
        "Record p0-1 appears twice in ledger.",
        "Seconds since the start of the run.",
        "and the evidence that they took effect",
        "mutated copies of this history",
        "onceproof run small --seed 7",
        "Environment and versions",
        "One line was cut short.",
    ]
    words = page.words
    places = [words.index(part) for part in order]
    assert places == sorted(places)


def test_headings_are_in_order_and_links_have_targets(small_report: Report) -> None:
    page = Page(render(small_report))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    tags = [tag for tag, _ in page.tags]
    assert {"header", "nav", "main", "footer"} <= set(tags)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    targets = {str(a["href"])[1:] for tag, a in page.tags if tag == "a"}
    assert targets <= set(ids)
    tables = [i for i, tag in enumerate(tags) if tag == "table"]
    assert all(tags[i + 1] == "caption" for i in tables)


@pytest.mark.parametrize("payload", HOSTILE)
def test_hostile_contents_stay_text(small: SimpleNamespace, payload: str) -> None:
    history = small.history(payload)
    for table, column in (
        ("faults", "description"), ("faults", "kind"), ("faults", "target"), ("faults", "fault"),
        ("hazards", "detail"), ("hazards", "hazard"), ("instances", "how"),
        ("instances", "instance"), ("instances", "subject"), ("phases", "phase"),
        ("positions", "owner"), ("sends", "attempt"), ("sends", "error"), ("effects", "position"),
    ):  # fmt: skip
        rows = history[table].to_pylist()
        history[table] = small.arrow(table, [row | {column: payload} for row in rows])
    judgement = small.judgement(history, payload)
    judgement = Judgement(
        claims=(*judgement.claims, small.judged(payload, Verdict.UNKNOWN, reason=payload)),
        findings=judgement.findings,
        mutation_check=judgement.mutation_check,
        notes=(payload,),
        counts={payload: 1},
    )
    record = small.record(
        title=payload, repeat=payload, subject_says=payload, scenario=payload, run=payload,
        configuration={payload: {payload: [payload]}}, host={payload: payload},
    )  # fmt: skip
    assert_harmless(render(build(record, history, judgement)))


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_page(report_of: Callable[[Verdict], Report], verdict: Verdict) -> None:
    report = report_of(verdict)
    page = assert_harmless(render(report))
    assert report.headline in "".join(page.text)
    assert verdict.value in page.words


def test_empty_run_has_a_page(small: SimpleNamespace) -> None:
    empty = Judgement(claims=(), findings=(), mutation_check=())
    page = assert_harmless(render(build(small.record(), {}, empty)))
    for text in ("No claim was judged.", "No findings.", "None of the 1 planned fault"):
        assert text in page.words


def test_page_marks_an_unexpected_verdict(small: SimpleNamespace) -> None:
    claim = small.judged("exactly-once", Verdict.HOLDS, expected=False)
    report = build(small.record(), {}, Judgement(claims=(claim,), findings=(), mutation_check=()))
    words = Page(render(report)).words
    assert "1 claim did not come out as this scenario expects." in words
    assert "not as expected , should be holds" in words


def test_story_of_a_finding_and_its_cause(small_report: Report) -> None:
    finding = small_report.findings[0].shown[0]
    text = story(finding)
    assert text is not None
    assert text.striptags() == (
        "Record p0-1 was sent once (attempt p0-1/1 at 10.0 s, acknowledged). It appears once in "
        "the input, at payments-1@456, and twice in ledger, at 812 and 2033, both written by "
        "micro-batch 7."
    )
    assert cause_story(finding.causes[0], small_report.faults).striptags() == (
        "At 14.5 s: replayed-batch: Batch 7 was executed again. Caused by F1, kill driver-1 "
        "(12.0 s)."
    )


def test_folds_similar_findings(small: SimpleNamespace) -> None:
    history = small.history()
    judgement = Judgement(
        claims=(),
        findings=(small.duplicates(history, ["p0-1", "p0-2", "p0-3"], 1000),),
        mutation_check=(),
    )
    report = build(small.record(), history, judgement)
    (group,) = folded(report)
    assert [len(kind.others) for kind in group.kinds] == [2]
    assert group.not_shown == 997
    assert "2 more findings like this one" in Page(render(report)).words
