"""The page of a matrix: table, totals, Markdown, and inert text."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.checkers.model import Judgement, Verdict
from onceproof.reports.build import build
from onceproof.reports.model import Report
from onceproof.reports.runs.claims import ClaimResult, alike, claim_results
from onceproof.reports.runs.grid import NONE, SEVERAL, column, table
from onceproof.reports.runs.markdown import markdown
from onceproof.reports.runs.page import HTML_FILE, MARKDOWN_FILE, matrix_page, write_matrix
from onceproof.reports.runs.summary import headline, tiles, tone, unexpected
from onceproof.reports.runs.trial import Backend, Matrix, State, Trial
from tests.unit.reports.test_html import HOSTILE, Page


def claim(
    name: str, verdict: Verdict = Verdict.HOLDS, expected: bool = True, should_be: str = "holds"
) -> ClaimResult:
    return ClaimResult(
        name=name, verdict=verdict, expected=expected, should_be=should_be, reason="Because."
    )


def trial(name: str, *claims: ClaimResult, state: State = State.RUN, **overrides: object) -> Trial:
    defaults: dict[str, object] = {
        "title": "A story",
        "subject": "forwarder",
        "kinds": ("crash",),
        "backend": "local",
        "seconds": 12.0,
        "report": f"20250101T000000Z-{name}-7/report.html",
    }
    return Trial(scenario=name, state=state, claims=claims, **(defaults | overrides))  # type: ignore[arg-type]


GOOD = trial("good", claim("exactly-once a → b"))
BAD = trial(
    "bad",
    claim("at-least-once a → b"),
    claim("exactly-once a → b", Verdict.INVALID, False, "violated by duplicate-output"),
    subject="twin",
    kinds=("crash", "timeout"),
)
CRASHED = trial("crashed", state=State.FAILED, report=None, remark="ended with signal 9")
WAITING = trial("waiting", state=State.WAITING, report=None)
LEFT_OUT = trial(
    "cut", state=State.LEFT_OUT, backend="docker", report=None, remark="docker does not offer gates"
)


def matrix(*trials: Trial, **overrides: object) -> Matrix:
    defaults: dict[str, object] = {
        "backends": (Backend(name="local"),),
        "seed": 7,
        "scope": "Every scenario",
        "at_once": 2,
        "started_at": "2025-01-01T00:00:00+00:00",
        "seconds": 200.0,
        "repeat": "onceproof matrix --seed 7",
        "versions": {"kafka": "4.2.0", "code": "0123456789ab"},
        "host": {"cores": "2"},
    }
    return Matrix(trials=trials, **(defaults | overrides))  # type: ignore[arg-type]


class Links(HTMLParser):
    """The links, tags and attribute names of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]


# Claims of a report.


def test_claim_results_of_a_report(small_report: Report) -> None:
    first, second = claim_results(small_report)
    assert (first.verdict, first.expected) == (Verdict.VIOLATED, True)
    assert first.should_be == "violated by duplicate-output"
    assert (second.name, second.should_be) == ("at-least-once payments → ledger", "holds")


@pytest.mark.parametrize("verdict", [Verdict.HOLDS, Verdict.UNKNOWN])
def test_claim_without_an_expectation_should_hold(small: SimpleNamespace, verdict: Verdict) -> None:
    judged = small.judged("exactly-once", verdict, expected=None)
    judged = replace(judged, claim=replace(judged.claim, expect=None))
    judgement = Judgement(claims=(judged,), findings=(), mutation_check=())
    (found,) = claim_results(build(small.record(), small.history(), judgement))
    assert (found.expected, found.should_be) == (verdict is Verdict.HOLDS, "holds")


def test_only_a_run_with_expected_claims_is_as_expected() -> None:
    assert GOOD.expected
    assert not BAD.expected
    assert not trial("unjudged").expected
    assert not replace(GOOD, state=State.WAITING).expected
    assert not replace(GOOD, state=State.FAILED).expected
    assert replace(GOOD, state=State.REUSED).expected


# The table.


def test_column_is_the_kind_of_the_faults() -> None:
    assert column(trial("a", kinds=())) == NONE
    assert column(trial("a", kinds=("timeout",))) == "timeout"
    assert column(BAD) == SEVERAL


def test_rows_are_subjects_and_empty_columns_are_omitted() -> None:
    quiet = trial("quiet", kinds=())
    odd = trial("odd", kinds=("flood",), subject="twin")
    found = table([BAD, GOOD, quiet, odd, LEFT_OUT])
    assert found.columns == (NONE, "crash", "flood", SEVERAL)
    assert [(row.subject, row.cells) for row in found.rows] == [
        ("twin", ((), (), (odd,), (BAD,))),
        ("forwarder", ((quiet,), (GOOD,), (), ())),
    ]


def test_groups_claims_with_equal_results_unexpected_first() -> None:
    results = (
        claim("at-most-once a → b"),
        claim("at-least-once a → b"),
        claim("exactly-once b → c"),
        claim("ordered a → b", Verdict.VIOLATED, should_be="violated"),
        claim("atomic a → b", Verdict.STALLED, False),
        claim("idempotent a → b", Verdict.STALLED, False, "violated"),
    )
    found = alike([results])
    assert [(same.outcomes[0].verdict, same.expected, same.names) for same in found] == [
        (Verdict.STALLED, False, ("atomic a → b",)),
        (Verdict.STALLED, False, ("idempotent a → b",)),
        (Verdict.VIOLATED, True, ("ordered a → b",)),
        (Verdict.HOLDS, True, ("at-most-once, at-least-once a → b", "exactly-once b → c")),
    ]


# Totals.


@pytest.mark.parametrize(
    ("trials", "sentence", "expected_tone"),
    [
        ((GOOD,), "One run, as expected", "holds"),
        ((GOOD, GOOD, LEFT_OUT), "All 2 runs as expected", "holds"),
        ((GOOD, BAD), "1 of 2 runs as expected", "violated"),
        ((GOOD, CRASHED), "1 of 2 runs as expected", "violated"),
        ((GOOD, WAITING), "1 of 2 runs as expected, 1 not run", "unknown"),
        ((LEFT_OUT,), "Nothing could be run", "unknown"),
        ((), "Nothing could be run", "unknown"),
    ],
)
def test_headline_and_tone_of_a_matrix(
    trials: tuple[Trial, ...], sentence: str, expected_tone: str
) -> None:
    assert headline(matrix(*trials)) == sentence
    assert tone(matrix(*trials)) == expected_tone


def test_tiles_count_runs_claims_and_time() -> None:
    control = trial("control", claim("exactly-once a → b", Verdict.INVALID), state=State.REUSED)
    found = {tile.label: tile.value for tile in tiles(matrix(GOOD, BAD, control, CRASHED, WAITING))}
    assert found == {
        "runs as expected": "2 of 5",
        "claims as expected": "3 of 4",
        "claims invalid, 1 of them unexpectedly": "2",
        "claims unknown, 0 of them unexpectedly": "0",
        "runs reused": "1",
        "total time, 2 at a time": "3 min 20 s",
    }


def test_trials_that_were_not_run_are_not_unexpected() -> None:
    assert unexpected([GOOD, BAD, CRASHED, WAITING, LEFT_OUT]) == (BAD, CRASHED)


# The page.

DOCKER = (Backend(name="local"), Backend(name="docker", missing="There is no engine."))


def test_page_shows_everything_in_order() -> None:
    reused = trial("there", claim("exactly-once a → b"), state=State.REUSED)
    html = matrix_page(matrix(GOOD, BAD, CRASHED, WAITING, LEFT_OUT, reused, backends=DOCKER))
    words = Page(html).words
    order = [
        "2 of 5 runs as expected, 1 not run",
        "Every scenario, on local, docker (unavailable)",
        "exactly-once a → b : invalid, should be violated by duplicate-output. Because.",
        "ended with signal 9",
        "Rows are subjects",
        "docker is unavailable: There is no engine.",
        "1 scenario left out: docker does not offer gates. cut",
        "1 run still to do: waiting",
        "1 run reused, of the same scenario, seed, backend, schedule and code: there",
        "onceproof matrix --seed 7",
        "0123456789ab",
    ]
    places = [words.index(part) for part in order]
    assert places == sorted(places)


def test_page_loads_nothing_and_links_the_reports() -> None:
    links = Links(html := matrix_page(matrix(GOOD, BAD, CRASHED)))
    assert {link for link in links.links if not link.startswith("#")} == {GOOD.report, BAD.report}
    assert not links.tags & {"script", "img", "iframe", "link", "object", "base"}
    assert "src" not in links.attributes
    assert "http" not in html[html.index("<style>") : html.index("</style>")]
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert unescape(policy).startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy, "nothing may run in it"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert(text: str) -> None:
    bad = replace(BAD, scenario=text, title=text, subject=text, remark=text)
    bad = replace(bad, claims=(claim(text, Verdict.STALLED, False, text), *bad.claims))
    missing = (Backend(name="local"), Backend(name="docker", missing=text))
    found = matrix(bad, CRASHED, backends=missing, repeat=text, versions={text: text})
    links = Links(matrix_page(found))
    Page(matrix_page(found))
    assert not links.tags & {"script", "img", "iframe", "link", "object", "base"}
    assert not any(name.startswith("on") for name in links.attributes)
    table_rows = [line for line in markdown(found).splitlines() if line.startswith("| **")]
    assert len(table_rows) == 2


def test_renders_an_empty_matrix() -> None:
    assert "There was nothing to run." in Page(matrix_page(matrix())).words
    assert "| subject |" not in markdown(matrix())


def test_names_the_backend_of_each_run_if_there_are_two() -> None:
    both = (Backend(name="local"), Backend(name="docker"))
    twice = matrix(GOOD, replace(GOOD, backend="docker"), backends=both)
    assert "good docker" in Page(matrix_page(twice)).words
    assert "*good (docker)*: ✓ holds" in markdown(twice)
    assert "*good*: ✓ holds" in markdown(matrix(GOOD))


def test_markdown_names_container_images_and_reused_runs() -> None:
    images = {
        "image of broker-1": "kafka:4 (sha256:1)",
        "image of broker-2": "kafka:4 (sha256:1)",
        "image of postgres": "postgres:17 (sha256:2)",
        "code": "c0de",
    }
    again = replace(GOOD, state=State.REUSED)
    text = markdown(matrix(GOOD, again, versions=images))
    assert ", on onceproof c0de; in containers of kafka:4, postgres:17. 1 run of the" in text
    assert "same code was reused." in text
    assert "; in containers" not in markdown(matrix(GOOD, versions={"code": "c0de"}))
    assert "reused" not in markdown(matrix(GOOD))


# Markdown.


def test_markdown_summary_and_table() -> None:
    lines = markdown(matrix(GOOD, BAD, LEFT_OUT, CRASHED, backends=DOCKER)).splitlines()
    assert (
        "**1 of 3 runs as expected.** Every scenario with seed 7, started "
        "2025-01-01T00:00:00+00:00, 2 at a time, in 3 min 20 s, on Kafka 4.2.0, "
        "onceproof 0123456789ab." in lines
    )
    assert "Backend local: 3 scenarios." in lines
    assert "Backend docker: not run. There is no engine." in lines
    assert lines[lines.index("| subject | crash | several kinds |") :] == [
        "| subject | crash | several kinds |",
        "| --- | --- | --- |",
        "| **forwarder** | *good*: ✓ holds (exactly-once a → b)<br>*crashed*: failed |  |",
        "| **twin** |  | *bad*: ✗ invalid (exactly-once a → b); ✓ holds (at-least-once a → b) |",
        "",
        "## Not as expected",
        "",
        "* bad (local)",
        "  * exactly-once a → b: invalid, should be violated by duplicate-output. Because.",
        "* crashed (local): ended with signal 9",
    ]


def test_markdown_escapes_names() -> None:
    odd = replace(GOOD, subject="a | b\n| *c* <d>", scenario="[e](f) `g`\x1b")
    (row,) = [r for r in markdown(matrix(odd)).splitlines() if r.startswith("| **")]
    assert row == (
        r"| **a \| b \| \*c\* \<d\>** | *\[e\](f) \`g\`\\x1b*: ✓ holds (exactly-once a → b) |"
    )


def test_markdown_counts_scenarios_left_out() -> None:
    both = (Backend(name="local"), Backend(name="docker"))
    text = markdown(matrix(GOOD, LEFT_OUT, backends=both))
    assert "Backend docker: 0 scenarios. 1 left out: docker does not offer gates." in text


def test_writes_and_replaces_only_both_files(tmp_path: Path) -> None:
    for found in (matrix(BAD), matrix(GOOD)):
        assert write_matrix(tmp_path, found) == (tmp_path / HTML_FILE, tmp_path / MARKDOWN_FILE)
    assert sorted(path.name for path in tmp_path.iterdir()) == [HTML_FILE, MARKDOWN_FILE]
    assert "One run, as expected" in (tmp_path / HTML_FILE).read_text()
    assert "One run, as expected" in (tmp_path / MARKDOWN_FILE).read_text()
