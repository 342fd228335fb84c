"""Reports in a real, headless Chromium: they open, all can use them, and nothing else runs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.report import FINDINGS, LARGEST, browser, make_report
from onceproof.harness.wait import wait_until
from onceproof.reports.html import render
from tests.unit.reports import conftest as made_up
from tests.unit.reports.test_html_hostile import HARMLESS, PAYLOADS, report_of

SMALL = SimpleNamespace(
    arrow=made_up.arrow,
    duplicates=made_up.duplicates,
    history=made_up.small_history,
    judged=made_up.judged,
    judgement=made_up.small_judgement,
    ns=made_up.ns,
    record=made_up.run_record,
)
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 390)]
UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
SHAPE = """[...document.querySelectorAll('*')].map(
    one => one.localName + ' ' + [...one.attributes].map(a => a.name)
        .filter(name => name !== 'visibility' && name !== 'transform').sort())"""
RUNNING = """[...document.querySelectorAll('*')].flatMap(one => [...one.attributes])
    .filter(a => /^on/i.test(a.name) || /^\\s*(javascript|data|vbscript):/i.test(a.value)
        || /^(src|srcset|action|formaction|srcdoc|ping)$/i.test(a.name))
    .map(a => a.name + '=' + a.value)"""


@dataclass
class Looked:
    """A page, and everything that it did beside being shown."""

    page: Page
    expected: set[str] = field(default_factory=set)
    did: list[str] = field(default_factory=list)

    def expects(self, path: Path) -> str:
        """That this file is asked for is nothing to write down; returns its address."""
        self.expected.add(path.absolute().as_uri())
        return path.absolute().as_uri()

    def asked(self, address: str) -> None:
        """The page asked for something."""
        if address not in self.expected:
            self.did.append(f"request: {address}")

    def forbidden(self, address: str) -> None:
        """What the page's policy forbids is announced as a request, and never made."""
        self.did.remove(f"request: {address}")

    @property
    def range(self) -> str:
        return self.page.locator("#range").inner_text()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = browser()
    if path is None:
        pytest.skip("no chromium, chromium-browser or google-chrome is on PATH: install one")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


Look = Callable[..., Any]


@pytest.fixture
def look(chromium: Browser) -> Look:
    """Open a page in a context of its own, and write down what it does."""

    @contextmanager
    def opened(path: Path, width: int = 1280, **how: Any) -> Iterator[Looked]:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **how)
        looked = Looked(context.new_page())
        page = looked.page

        def dismissed(dialog: Any) -> None:
            looked.did.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", dismissed)
        page.on("console", lambda message: looked.did.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: looked.did.append(f"error: {error}"))
        page.on("popup", lambda other: looked.did.append(f"window: {other.url}"))
        context.on("request", lambda asked: looked.asked(asked.url))
        context.on("requestfailed", lambda a: a.failure == "csp" and looked.forbidden(a.url))
        page.goto(looked.expects(path))
        yield looked
        context.close()

    return opened


@pytest.fixture(scope="module")
def large(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 000 records, a thousand findings, each of them told. (Not made without a Chromium.)"""
    folder = tmp_path_factory.mktemp("large")
    return make_report(folder / "run", cache=folder / "cache")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report that has a bit of everything."""
    return written(tmp_path_factory.mktemp("whole"), HARMLESS)


def written(folder: Path, payload: str) -> Path:
    page = folder / "report.html"
    page.write_text(render(report_of(SMALL, payload)), encoding="utf-8")
    return page


def test_a_large_report_is_small_and_opens_without_asking_for_anything(
    large: Path, look: Look
) -> None:
    assert large.stat().st_size < LARGEST
    begun = time.monotonic()
    with look(large) as looked:
        seconds = time.monotonic() - begun
        print(f"{large.stat().st_size / 1e6:.2f} MB, opened in {seconds:.2f} s")
        page = looked.page
        counted = page.locator("h3 .count").all_inner_texts()
        assert sum(int(re.sub(r"\D", "", text)) for text in counted) >= FINDINGS
        assert "counted but not shown" not in page.locator("#findings + *").inner_text()
        told = page.locator("article").count() + page.locator(".brief tbody tr").count()
        assert told >= FINDINGS
        assert page.locator(".log li").count() > 100
        page.evaluate(UNFOLD)
        page.keyboard.press("End")
        assert looked.did == []


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
@pytest.mark.parametrize("which", ["large", "whole"])
def test_axe_finds_nothing(
    which: str, scheme: str, width: int, look: Look, request: pytest.FixtureRequest
) -> None:
    with look(request.getfixturevalue(which), width, color_scheme=scheme) as looked:
        looked.page.evaluate(UNFOLD)  # what is folded is not looked at
        found = Axe().run(looked.page)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_page(large: Path, whole: Path, look: Look, width: int) -> None:
    for path in (large, whole):
        with look(path, width) as looked:
            looked.page.evaluate(UNFOLD)
            wide = looked.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width


def test_a_dark_page_is_dark_and_a_light_one_light(whole: Path, look: Look) -> None:
    for scheme, dark in (("dark", True), ("light", False)):
        with look(whole, color_scheme=scheme) as looked:
            assert (lightness(looked.page, "backgroundColor") < 0.3) is dark
            assert (lightness(looked.page, "color") > 0.7) is dark


def eventually(so: Callable[[], bool], what: str) -> None:
    """Ask until it is so. (The page's policy forbids Playwright's own way of waiting.)"""
    wait_until(lambda: so() or None, what=what, seconds=60)


def lightness(page: Page, what: str) -> float:
    colour: str = page.evaluate(f"getComputedStyle(document.body).{what}")
    if colour == "rgba(0, 0, 0, 0)":
        return 1.0  # the paper
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3 / 255


def test_the_timeline_is_zoomed_by_keys(whole: Path, look: Look) -> None:
    with look(whole) as looked:
        page = looked.page
        assert looked.range.startswith("Whole run: 0 s to 20.0 s; 1 of 1 finding marks")
        page.locator("#line-view").focus()
        page.keyboard.press("+")
        assert looked.range == "5.0 s to 15.0 s of 20.0 s; 1 of 1 finding marks visible"
        page.keyboard.press("ArrowLeft")
        assert looked.range == "2.5 s to 12.5 s of 20.0 s; 0 of 1 finding marks visible"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert looked.range.startswith("7.5 s to 17.5 s")
        page.keyboard.press("-")
        assert looked.range.startswith("Whole run")
        page.keyboard.press("+")
        page.keyboard.press("+")
        page.keyboard.press("0")
        assert looked.range.startswith("Whole run")
        assert page.locator("#range").get_attribute("aria-live") == "polite"


def test_the_whole_run_is_drawn_again_as_it_was(whole: Path, look: Look) -> None:
    drawn = """[...document.querySelectorAll('#plot rect, #plot text, #plot line')].map(one =>
        [one.textContent, ...['x', 'width', 'x1', 'visibility'].map(name => {
            const value = one.getAttribute(name);
            return isNaN(parseFloat(value)) ? value : parseFloat(value);
        })])"""
    with look(whole) as looked:
        before = looked.page.evaluate(drawn)
        looked.page.locator("#line-view").focus()
        for key in "+++":
            looked.page.keyboard.press(key)
        assert looked.page.evaluate(drawn) != before
        looked.page.keyboard.press("0")
        assert looked.page.evaluate(drawn) == before


def test_shapes_stand_where_the_axis_says(whole: Path, look: Look) -> None:
    """The fault of 12 s to 14 s begins and ends at its own seconds, however close one looks."""
    with look(whole) as looked:
        page = looked.page
        for presses in ("", "+", "++"):
            page.locator("#line-view").focus()
            page.keyboard.press("0")
            for key in presses:
                page.keyboard.press(key)
            if presses:
                page.keyboard.press("ArrowRight")
            found = re.match(r"([\d.]+) s to ([\d.]+) s", looked.range.replace("Whole run: ", ""))
            assert found is not None
            start, end = map(float, found.groups())
            box = page.locator("#plot .shade").first.bounding_box()
            plot = page.locator("#plot").bounding_box()
            assert box is not None
            assert plot is not None
            inner = plot["width"] - 16
            at = [(x - plot["x"] - 8) / inner for x in (box["x"], box["x"] + box["width"])]
            for part, seconds in zip(at, (12.0, 14.0), strict=True):
                assert abs(start + part * (end - start) - seconds) < 0.1


def test_the_timeline_is_zoomed_by_buttons(whole: Path, look: Look) -> None:
    with look(whole) as looked:
        page = looked.page
        page.get_by_role("button", name="Zoom in").click()
        assert looked.range.startswith("5.0 s to 15.0 s")
        page.get_by_role("button", name="Later").click()
        assert looked.range.startswith("7.5 s to 17.5 s")
        page.get_by_role("button", name="Earlier").click()
        page.get_by_role("button", name="Zoom out").click()
        assert looked.range.startswith("Whole run")
        page.get_by_role("button", name="Zoom in").click()
        page.get_by_role("button", name="Whole run").click()
        assert looked.range.startswith("Whole run")


def test_the_timeline_is_zoomed_by_the_wheel_and_moved_by_dragging(whole: Path, look: Look) -> None:
    with look(whole) as looked:
        page = looked.page
        pointed_at(page)
        scrolled = page.evaluate("scrollY")
        page.mouse.wheel(0, -100)
        eventually(lambda: page.evaluate("scrollY") != scrolled, "the wheel scrolls the page")
        assert looked.range.startswith("Whole run")
        over = pointed_at(page)
        page.keyboard.down("Control")
        page.mouse.wheel(0, -300)
        eventually(lambda: looked.range.startswith("6.3 s to 13.7 s"), "the wheel zooms")
        page.keyboard.up("Control")
        page.mouse.down()
        page.mouse.move(over[0] + 100, over[1], steps=5)
        page.mouse.up()
        eventually(lambda: looked.range.startswith("5.5 s to 12.9 s"), "dragging moves")
        page.keyboard.press("0")  # a click into the picture gave it the focus
        page.mouse.wheel(0, -300)
        eventually(lambda: not looked.range.startswith("Whole run"), "the wheel zooms")


def pointed_at(page: Page) -> tuple[float, float]:
    """Point at the middle of the picture."""
    plot = page.locator("#plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + 60)
    page.mouse.move(*middle)
    return middle


def in_sight(page: Page, name: str) -> bool:
    top: float = page.evaluate(f"document.getElementById('{name}').getBoundingClientRect().top")
    return 0 <= top < 900


def test_a_mark_of_a_finding_leads_to_its_story(whole: Path, look: Look) -> None:
    with look(whole) as looked:
        page = looked.page
        mark = page.get_by_role("link", name=re.compile("go to the finding"))
        mark.focus()
        page.keyboard.press("Enter")
        assert page.url.endswith("#finding-1")
        eventually(lambda: in_sight(page, "finding-1"), "the story is in sight")
        page.evaluate("scrollTo(0, 0)")
        mark.click()
        eventually(lambda: in_sight(page, "finding-1"), "the story is in sight")


def test_without_a_script_the_picture_is_complete(whole: Path, look: Look) -> None:
    with look(whole, java_script_enabled=False) as looked:
        page = looked.page
        assert not page.locator("#zoom").is_visible()
        assert not page.locator("#zoom-help").is_visible()
        for part in (".curve-line", ".shade", ".life", ".hazard", ".finding", ".txn"):
            assert page.locator(f"#plot {part}").first.is_visible(), part
        assert page.locator("#plot .commit").get_attribute("d")
        assert page.locator("#plot .tick").count() > 3
        page.locator("#plot a").first.click()
        assert page.url.endswith("#finding-1")


@pytest.mark.parametrize("scripted", [True, False])
def test_on_paper_everything_is_unfolded_and_light(whole: Path, look: Look, scripted: bool) -> None:
    with look(whole, color_scheme="dark", java_script_enabled=scripted) as looked:
        page = looked.page
        details = page.locator("details > :not(summary)")
        folded = [i for i in range(details.count()) if not details.nth(i).is_visible()]
        assert folded
        page.emulate_media(media="print", color_scheme="dark")
        assert all(details.nth(i).is_visible() for i in folded)
        assert not page.locator("nav").is_visible()
        assert not page.locator("#zoom").is_visible()
        if scripted:
            assert lightness(page, "backgroundColor") > 0.9
            assert lightness(page, "color") < 0.3
            page.locator("#line-view").focus()
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            assert page.locator("details:not([open])").count() == 0
            page.evaluate("dispatchEvent(new Event('afterprint'))")
            assert page.locator("details:not([open])").count() > 0
        assert len(page.pdf()) > 10_000


def test_contents_do_nothing(whole: Path, look: Look, tmp_path: Path) -> None:
    """Chromium makes of a page of hostile contents what it makes of one of harmless contents."""
    with look(whole) as looked:
        page = looked.page
        shape = page.evaluate(SHAPE)
        for payload in PAYLOADS:
            path = written(tmp_path, payload)
            looked.expects(path)
            page.goto(path.as_uri())
            assert page.evaluate(SHAPE) == shape, ascii(payload[:99])
            assert page.evaluate(RUNNING) == [], ascii(payload[:99])
            page.evaluate(UNFOLD)
            page.locator("#line-view").focus()
            page.keyboard.press("+")
            assert page.evaluate("document.documentElement.scrollWidth") <= 1280
            assert looked.did == [], ascii(payload[:99])


def test_even_what_got_into_the_page_does_not_run(whole: Path, look: Look, tmp_path: Path) -> None:
    """If ever a text was not escaped, the policy of the page still is in its way."""
    broken_in = (
        "<script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\">"
        "<svg onload=\"document.title='ran'\"></svg><link rel=stylesheet href='https://evil.example'>"
        "<iframe srcdoc=\"<script>parent.document.title='ran'</script>\"></iframe>"
        "<p id=in style='color: red'>in</p>"
    )
    page = tmp_path / "report.html"
    page.write_text(whole.read_text().replace("<main", broken_in + "<main"))
    with look(page) as looked:
        assert looked.page.locator("#in").count() == 1
        assert "ran" not in looked.page.title()
        assert any("Content Security Policy" in did for did in looked.did)
        assert not any(did.startswith(("request", "dialog")) for did in looked.did)
        looked.page.locator("#line-view").focus()
        looked.page.keyboard.press("+")  # our own script runs all the same
        assert looked.range.startswith("5.0 s to 15.0 s")
