"""The page and the figures of an exploration."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from onceproof.commands.explore import exit_code
from onceproof.harness.explore.exploration import Limits
from onceproof.harness.explore.funnel import Funnel, told
from onceproof.harness.explore.journal import Known
from onceproof.harness.explore.points import CHECKPOINT, WINDOW, Passed, Point
from onceproof.reports.explore.diagram import diagram
from tests.unit.harness.explore.toy import Bug, ToyBench
from tests.unit.reports.explore.made_up import BUG, MISSED, explored, page_of, violated_in


@pytest.fixture(scope="module")
def violated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Funnel, Known]:
    return violated_in(tmp_path_factory.mktemp("x"))


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if found := given.get("id"):
            self.ids.append(found)
        if tag == "a" and (target := given.get("href")):
            self.links.append(target)

    def handle_data(self, data: str) -> None:
        self.words += data


def test_page_tells_the_violation_and_how_to_repeat_it(violated: tuple[Funnel, Known]) -> None:
    page = Page(page_of(violated))
    assert "1 trial of toy violated its claim" in page.words
    assert "5 of 5 times, alone on a fresh stage" in page.words
    assert f"onceproof explore toy --only '{BUG}' --transactions 1" in page.words


def test_every_arrow_leads_to_its_point(violated: tuple[Funnel, Known]) -> None:
    page = Page(page_of(violated))
    anchors = [link[1:] for link in page.links if re.fullmatch(r"#p\d+", link)]
    assert len(anchors) == violated[0].points
    assert set(anchors) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_missed_single_is_shown_with_its_reason(violated: tuple[Funnel, Known]) -> None:
    assert "missed 5 times; the last time the client ended without" in Page(page_of(violated)).words
    assert any(line.startswith(f"missed   {MISSED}: ") for line in told(violated[0]))


def test_pairs_are_told(tmp_path: Path) -> None:
    found = explored(tmp_path, ToyBench(size=500))
    pairs = found[0].pairs
    assert pairs is not None
    assert pairs.possible == pairs.chosen + pairs.alike + pairs.independent
    assert any(line.startswith(f"pairs    {pairs.possible} possible") for line in told(found[0]))
    assert "toy holds under each of" in Page(page_of(found)).words


def test_text_of_a_client_is_escaped(tmp_path: Path) -> None:
    figures, known = explored(tmp_path, ToyBench(), with_pairs=False)
    known.about = {**known.about, "subject": "<script>"}
    assert "<script>" not in page_of((figures, known))


@pytest.mark.parametrize(
    ("bench", "limit", "code"),
    [
        (ToyBench(), None, 0),
        (ToyBench(), 5, 5),
        (ToyBench(miss=lambda single, _: single == MISSED), None, 5),
        (ToyBench(bugs=[Bug((BUG,))]), None, 1),
    ],
)
def test_exit_code(tmp_path: Path, bench: ToyBench, limit: int | None, code: int) -> None:
    limits = Limits(trials=limit)
    figures, _ = explored(tmp_path, bench, with_pairs=False, limits=limits)
    assert exit_code(figures) == code


def test_window_is_an_arrow_to_the_checkpoint() -> None:
    request = Point(
        role="query", direction="request", api="Fetch", purpose="work", ordinal="first",
        target="input-leader",
    )  # fmt: skip
    window = replace(request, direction=WINDOW, api="after-commit", target=CHECKPOINT)
    trace = [Passed(point=point, unit=0, life=1) for point in (request, window)]
    drawn = diagram(trace, {request: "p1", window: "p2"}, {})
    assert [title for _, title in drawn.lifelines] == [
        "client",
        "checkpoint",
        "leader of the input",
    ]
    assert [arrow.title for arrow in drawn.arrows] == ["request of Fetch", "window after-commit"]
    assert all(arrow.start < arrow.end for arrow in drawn.arrows)
