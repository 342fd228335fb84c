"""The comparison of two runs in a terminal, as JSON and as a page."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.checkers.model import Verdict
from onceproof.reports.diff.compare import compare
from onceproof.reports.diff.data import diff_json
from onceproof.reports.diff.model import Diff
from onceproof.reports.diff.page import render
from onceproof.reports.diff.summary import headline
from onceproof.reports.diff.terminal import print_diff
from tests.unit.reports.diff.making import bad, claim, finding, good, group, judged
from tests.unit.reports.test_html import HOSTILE, Page

RUN = {"run": {"seed": "7"}, "versions": {"kafka": "4.1"}, "host": {"cores": "2"}}
WORSE = compare(
    good(circumstances=RUN),
    bad("p0-1", "p0-2", circumstances=RUN | {"versions": {"kafka": "4.2"}}),
)
CUT = compare(
    bad("p0-1", findings=(group("duplicate-output", *map(finding, ("p0-1", "p0-5")), count=400),)),
    bad(*(f"p0-{n}" for n in range(8))),
)
DOUBTFUL = compare(bad("p0-1"), replace(judged(good(), Verdict.UNKNOWN), incomplete="it broke off"))
NOTHING = compare(good(), good(claims=()))


def printed(diff: Diff) -> str:
    out = io.StringIO()
    print_diff(diff, out)
    return out.getvalue()


def words(diff: Diff) -> str:
    return Page(render(diff, Path())).words


# The headline.


@pytest.mark.parametrize(
    ("diff", "sentence"),
    [
        (WORSE, "B has new findings: 1 claim worse, 1 anomaly new"),
        (compare(good(), good()), "Nothing in B is new: 1 claim same"),
        (
            compare(bad("p0-1"), good()),
            "Nothing in B is new: 1 claim better, 1 anomaly gone",
        ),
        (
            DOUBTFUL,
            "Nothing in B is certainly new, but not everything could be compared: 1 claim of which "
            "less is known, 1 anomaly perhaps gone",
        ),
        (
            CUT,
            "B has new findings: 1 claim same, 1 anomaly still there, 4 records newly affected",
        ),
        (
            compare(good(claims=(claim(expected=True),)), good(claims=(claim(expected=False),))),
            "B is worse than A: 1 claim not as expected any more",
        ),
        (NOTHING, "A and B cannot be compared: no claim was judged in B"),
        (
            compare(good(), good(claims=(claim(input="x", sink="y"),))),
            "A and B cannot be compared: their claims have no topic and no sink in common",
        ),
    ],
)
def test_headline_is_in_the_terminal_and_on_the_page(diff: Diff, sentence: str) -> None:
    assert headline(diff) == sentence
    assert f"{sentence}." in " ".join(printed(diff).split())
    assert sentence in words(diff)


# The terminal.


def test_terminal_shows_changes_and_reasons() -> None:
    text = printed(WORSE)
    for part in (
        "exactly-once payments → ledger  holds  violated by duplicate-output  worse",
        "Both runs sent the same records: same seed, same workload.",
        "duplicate-output in ledger (table): new, 0 → 2",
        "  2 new: p0-1, p0-2",
        "with replayed-batch by fault «kill»: 0 → 2 of the listed findings",
        "versions  A    B",
        "  kafka   4.1  4.2",
    ):
        assert part in text
    assert "\x1b" not in text
    assert "seed" not in text.split("Differences between")[1]


def test_terminal_explains_undecided_findings() -> None:
    text = printed(CUT)
    assert "  2 perhaps new: p0-6, p0-7\n    the other run lists only the first 2 of 400" in text
    assert "A lists 2 of 400: the others cannot be compared one by one" in text
    assert "--by anomaly does not compare records" in text
    assert "findings missing here prove nothing: it broke off" in printed(DOUBTFUL)
    assert "could not have detected it: it broke off" in printed(DOUBTFUL)
    assert "Findings" not in printed(NOTHING)


def test_counts_findings_without_hazards_only_if_others_have_them() -> None:
    alone = bad(findings=(group("duplicate-output", finding("p0-1", hazards=())),))
    assert "without a related hazard" not in printed(compare(alone, alone))
    assert "without a related hazard" not in words(compare(alone, alone))
    assert "without a related hazard: 1 → 0" in printed(compare(alone, bad("p0-2")))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert(text: str) -> None:
    odd = bad(
        name=text,
        claims=(
            claim(verdict=Verdict.VIOLATED, name=text, sink=text, refuted_by=(text,), reason=text),
        ),
        findings=(group(text, finding(text, sink=text, hazards=(text,))),),
        circumstances={text: {text: text}},
        incomplete=text,
        page=f"{text}/report.html".replace("\x00", ""),
    )
    same = good(claims=(claim(sink=text),), circumstances={text: {text: "other"}})
    for diff in (compare(same, odd), compare(odd, same)):
        out = printed(diff)
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "\x00" not in out
        page = Page(html := render(diff, Path()))
        tags = {tag for tag, _ in page.tags}
        assert not tags & {"script", "img", "iframe", "link", "object", "base"}
        assert "\u202e" not in html
        for _, attributes in page.tags:
            assert not any(name.startswith("on") for name in attributes)
            link = attributes.get("href") or "#"
            assert link.startswith(("#", "./", "../"))
            assert not any(c in link for c in "<>\"' ")
        json.loads(diff_json(diff))


# JSON.


def test_json_has_outcome_findings_and_differences() -> None:
    data = json.loads(diff_json(CUT))
    assert (data["format"], data["version"]) == ("onceproof-diff", 1)
    assert data["outcome"] == "something new"
    assert data["by_record"] is True
    (pair,) = data["findings"]
    assert pair["a"] == {"count": 400, "listed": 2, "total": 400}
    assert pair["records"][0]["key"]["record"] == "p0-0"
    assert {record["status"] for record in pair["records"]} == {
        "new",
        "perhaps new",
        "still there",
    }
    assert len(pair["records"]) == 8
    assert json.loads(diff_json(WORSE))["differences"] == [
        {"section": "versions", "name": "kafka", "a": "4.1", "b": "4.2"}
    ]


# The page.


def test_page_shows_everything_in_order() -> None:
    order = [
        "Skip to the claims",
        "exactly-once payments → ledger holds violated by duplicate-output worse A: Because.",
        "Findings are compared record by record",
        "duplicate-output in ledger (table) new 0 → 2",
        "p0-1 stands out.",
        "kafka 4.1 4.2",
        "B has it, and A would have detected it.",
    ]
    page_words = words(WORSE)
    places = [page_words.rindex(part) for part in order]
    assert places == sorted(places)


def test_page_loads_nothing_and_links_reports(tmp_path: Path) -> None:
    (tmp_path / "runs/a b#").mkdir(parents=True)
    page = tmp_path / "runs/a b#/report.html"
    html = render(compare(good(page=str(page)), bad("p0-1")), tmp_path / "pages")
    links = [a["href"] for tag, a in Page(html).tags if tag == "a" and a["href"][:1] != "#"]  # type: ignore[index]
    assert links == ["./../runs/a%20b%23/report.html"]
    assert "http" not in html[html.index("<style>") : html.index("</style>")]
    assert "default-src 'none'" in html
