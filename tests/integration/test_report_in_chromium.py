"""Reports in a headless Chromium: layout, accessibility, timeline and security."""

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
from onceproof.reports.cost.page import render as render_costs
from onceproof.reports.html import render
from tests.unit.reports import conftest as made_up
from tests.unit.reports.cost.test_page import report as cost_report
from tests.unit.reports.explore.made_up import page_of, violated_in
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
VIEWS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 390)]
OPEN_DETAILS = "document.querySelectorAll('details').forEach(one => one.open = true)"
SHAPE = """[...document.querySelectorAll('*')].map(
    one => one.localName + ' ' + [...one.attributes].map(a => a.name)
        .filter(name => name !== 'visibility' && name !== 'transform').sort())"""
RUNNING = """[...document.querySelectorAll('*')].flatMap(one => [...one.attributes])
    .filter(a => /^on/i.test(a.name) || /^\\s*(javascript|data|vbscript):/i.test(a.value)
        || /^(src|srcset|action|formaction|srcdoc|ping)$/i.test(a.name))
    .map(a => a.name + '=' + a.value)"""


@dataclass
class OpenPage:
    """A page and its unexpected activity: requests, dialogs, errors, console messages."""

    page: Page
    expected: set[str] = field(default_factory=set)
    activity: list[str] = field(default_factory=list)

    def expect(self, path: Path) -> str:
        """Ignore requests for a file; return its URI."""
        self.expected.add(path.absolute().as_uri())
        return path.absolute().as_uri()

    def on_request(self, address: str) -> None:
        """Record an unexpected request."""
        if address not in self.expected:
            self.activity.append(f"request: {address}")

    def on_blocked(self, address: str) -> None:
        """Remove a request that the page's policy blocked: Playwright reports it as made."""
        self.activity.remove(f"request: {address}")

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
    """Open a page in its own browser context and record its activity."""

    @contextmanager
    def opened(path: Path, width: int = 1280, **how: Any) -> Iterator[OpenPage]:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **how)
        opened_page = OpenPage(context.new_page())
        page = opened_page.page

        def dismissed(dialog: Any) -> None:
            opened_page.activity.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", dismissed)
        page.on("console", lambda message: opened_page.activity.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: opened_page.activity.append(f"error: {error}"))
        page.on("popup", lambda other: opened_page.activity.append(f"window: {other.url}"))
        context.on("request", lambda request: opened_page.on_request(request.url))
        context.on("requestfailed", lambda a: a.failure == "csp" and opened_page.on_blocked(a.url))
        page.goto(opened_page.expect(path))
        yield opened_page
        context.close()

    return opened


@pytest.fixture(scope="module")
def large(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with 200 000 records and a thousand findings; skipped without Chromium."""
    folder = tmp_path_factory.mktemp("large")
    return make_report(folder / "run", cache=folder / "cache")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report with every kind of content."""
    return write_report(tmp_path_factory.mktemp("whole"), HARMLESS)


@pytest.fixture(scope="module")
def exploration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page about an exploration."""
    folder = tmp_path_factory.mktemp("exploration")
    page = folder / "explore.html"
    page.write_text(page_of(violated_in(folder)), encoding="utf-8")
    return page


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page about what exactly-once costs, with a full grid."""
    page = tmp_path_factory.mktemp("costs") / "cost.html"
    page.write_text(render_costs(cost_report("java", "streams", full=True)), encoding="utf-8")
    return page


def write_report(folder: Path, payload: str) -> Path:
    page = folder / "report.html"
    page.write_text(render(report_of(SMALL, payload)), encoding="utf-8")
    return page


def test_large_report_is_small_and_makes_no_requests(large: Path, look: Look) -> None:
    assert large.stat().st_size < LARGEST
    started = time.monotonic()
    with look(large) as opened_page:
        seconds = time.monotonic() - started
        print(f"{large.stat().st_size / 1e6:.2f} MB, opened in {seconds:.2f} s")
        page = opened_page.page
        counted = page.locator("h3 .count").all_inner_texts()
        assert sum(int(re.sub(r"\D", "", text)) for text in counted) >= FINDINGS
        assert "counted but not shown" not in page.locator("#findings + *").inner_text()
        shown = page.locator("article").count() + page.locator(".brief tbody tr").count()
        assert shown >= FINDINGS
        assert page.locator(".log li").count() > 100
        page.evaluate(OPEN_DETAILS)
        page.keyboard.press("End")
        assert opened_page.activity == []


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
@pytest.mark.parametrize("report", ["large", "small", "exploration", "costs"])
def test_axe_finds_no_violations(
    report: str, scheme: str, width: int, look: Look, request: pytest.FixtureRequest
) -> None:
    with look(request.getfixturevalue(report), width, color_scheme=scheme) as opened_page:
        opened_page.page.evaluate(OPEN_DETAILS)  # axe ignores closed details
        found = Axe().run(opened_page.page)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_page_does_not_scroll_horizontally(
    large: Path, small: Path, exploration: Path, costs: Path, look: Look, width: int
) -> None:
    for path in (large, small, exploration, costs):
        with look(path, width) as opened_page:
            opened_page.page.evaluate(OPEN_DETAILS)
            wide = opened_page.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width


def test_arrow_of_an_exploration_leads_to_its_faults(exploration: Path, look: Look) -> None:
    with look(exploration) as opened_page:
        page = opened_page.page
        page.locator(".sequence a").first.focus()
        page.keyboard.press("Enter")
        assert page.url.endswith("#p1")
        page.locator("#p1 summary").press("Enter")
        assert page.locator("#p1 tbody tr").first.is_visible()
        assert opened_page.activity == []


def test_page_follows_color_scheme(small: Path, look: Look) -> None:
    for scheme, dark in (("dark", True), ("light", False)):
        with look(small, color_scheme=scheme) as opened_page:
            assert (lightness(opened_page.page, "backgroundColor") < 0.3) is dark
            assert (lightness(opened_page.page, "color") > 0.7) is dark


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Poll a condition: the page's policy blocks Playwright's `wait_for_function`."""
    wait_until(lambda: condition() or None, what=what, seconds=60)


def lightness(page: Page, what: str) -> float:
    colour: str = page.evaluate(f"getComputedStyle(document.body).{what}")
    if colour == "rgba(0, 0, 0, 0)":
        return 1.0  # transparent: the white canvas
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3 / 255


def test_keys_zoom_and_move_the_timeline(small: Path, look: Look) -> None:
    with look(small) as opened_page:
        page = opened_page.page
        assert opened_page.range.startswith("Whole run: 0 s to 20.0 s; 1 of 1 finding marks")
        page.locator("#line-view").focus()
        page.keyboard.press("+")
        assert opened_page.range == "5.0 s to 15.0 s of 20.0 s; 1 of 1 finding marks visible"
        page.keyboard.press("ArrowLeft")
        assert opened_page.range == "2.5 s to 12.5 s of 20.0 s; 0 of 1 finding marks visible"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert opened_page.range.startswith("7.5 s to 17.5 s")
        page.keyboard.press("-")
        assert opened_page.range.startswith("Whole run")
        page.keyboard.press("+")
        page.keyboard.press("+")
        page.keyboard.press("0")
        assert opened_page.range.startswith("Whole run")
        assert page.locator("#range").get_attribute("aria-live") == "polite"


def test_reset_redraws_the_whole_run_unchanged(small: Path, look: Look) -> None:
    drawn = """[...document.querySelectorAll('#plot rect, #plot text, #plot line')].map(one =>
        [one.textContent, ...['x', 'width', 'x1', 'visibility'].map(name => {
            const value = one.getAttribute(name);
            return isNaN(parseFloat(value)) ? value : parseFloat(value);
        })])"""
    with look(small) as opened_page:
        before = opened_page.page.evaluate(drawn)
        opened_page.page.locator("#line-view").focus()
        for key in "+++":
            opened_page.page.keyboard.press(key)
        assert opened_page.page.evaluate(drawn) != before
        opened_page.page.keyboard.press("0")
        assert opened_page.page.evaluate(drawn) == before


def test_shapes_match_the_time_axis_at_every_zoom(small: Path, look: Look) -> None:
    """The fault from 12 s to 14 s is drawn there at every zoom level."""
    with look(small) as opened_page:
        page = opened_page.page
        for presses in ("", "+", "++"):
            page.locator("#line-view").focus()
            page.keyboard.press("0")
            for key in presses:
                page.keyboard.press(key)
            if presses:
                page.keyboard.press("ArrowRight")
            found = re.match(
                r"([\d.]+) s to ([\d.]+) s", opened_page.range.replace("Whole run: ", "")
            )
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


def test_buttons_zoom_and_move_the_timeline(small: Path, look: Look) -> None:
    with look(small) as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="Zoom in").click()
        assert opened_page.range.startswith("5.0 s to 15.0 s")
        page.get_by_role("button", name="Later").click()
        assert opened_page.range.startswith("7.5 s to 17.5 s")
        page.get_by_role("button", name="Earlier").click()
        page.get_by_role("button", name="Zoom out").click()
        assert opened_page.range.startswith("Whole run")
        page.get_by_role("button", name="Zoom in").click()
        page.get_by_role("button", name="Whole run").click()
        assert opened_page.range.startswith("Whole run")


def test_wheel_zooms_and_dragging_moves_the_timeline(small: Path, look: Look) -> None:
    with look(small) as opened_page:
        page = opened_page.page
        point_at_middle(page)
        scroll_before = page.evaluate("scrollY")
        page.mouse.wheel(0, -100)
        eventually(lambda: page.evaluate("scrollY") != scroll_before, "the wheel scrolls the page")
        assert opened_page.range.startswith("Whole run")
        middle = point_at_middle(page)
        page.keyboard.down("Control")
        page.mouse.wheel(0, -300)
        eventually(lambda: opened_page.range.startswith("6.3 s to 13.7 s"), "the wheel zooms")
        page.keyboard.up("Control")
        page.mouse.down()
        page.mouse.move(middle[0] + 100, middle[1], steps=5)
        page.mouse.up()
        eventually(lambda: opened_page.range.startswith("5.5 s to 12.9 s"), "dragging moves")
        page.keyboard.press("0")  # a click focused the timeline
        page.mouse.wheel(0, -300)
        eventually(lambda: not opened_page.range.startswith("Whole run"), "the wheel zooms")


def point_at_middle(page: Page) -> tuple[float, float]:
    """Move the mouse to the middle of the timeline."""
    plot = page.locator("#plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + 60)
    page.mouse.move(*middle)
    return middle


def is_in_viewport(page: Page, name: str) -> bool:
    top: float = page.evaluate(f"document.getElementById('{name}').getBoundingClientRect().top")
    return 0 <= top < 900


def test_finding_mark_links_to_its_story(small: Path, look: Look) -> None:
    with look(small) as opened_page:
        page = opened_page.page
        mark = page.get_by_role("link", name=re.compile("go to the finding"))
        mark.focus()
        page.keyboard.press("Enter")
        assert page.url.endswith("#finding-1")
        eventually(lambda: is_in_viewport(page, "finding-1"), "the story is in sight")
        page.evaluate("scrollTo(0, 0)")
        mark.click()
        eventually(lambda: is_in_viewport(page, "finding-1"), "the story is in sight")


def test_timeline_is_complete_without_javascript(small: Path, look: Look) -> None:
    with look(small, java_script_enabled=False) as opened_page:
        page = opened_page.page
        assert not page.locator("#zoom").is_visible()
        assert not page.locator("#zoom-help").is_visible()
        for part in (".curve-line", ".shade", ".life", ".hazard", ".finding", ".txn"):
            assert page.locator(f"#plot {part}").first.is_visible(), part
        assert page.locator("#plot .commit").get_attribute("d")
        assert page.locator("#plot .tick").count() > 3
        page.locator("#plot a").first.click()
        assert page.url.endswith("#finding-1")


@pytest.mark.parametrize("scripted", [True, False])
def test_print_opens_details_and_uses_light_colors(small: Path, look: Look, scripted: bool) -> None:
    with look(small, color_scheme="dark", java_script_enabled=scripted) as opened_page:
        page = opened_page.page
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


def test_hostile_contents_change_no_structure_and_run_nothing(
    small: Path, look: Look, tmp_path: Path
) -> None:
    """The DOM of a page with hostile contents equals that of one with harmless contents."""
    with look(small) as opened_page:
        page = opened_page.page
        shape = page.evaluate(SHAPE)
        for payload in PAYLOADS:
            path = write_report(tmp_path, payload)
            opened_page.expect(path)
            page.goto(path.as_uri())
            assert page.evaluate(SHAPE) == shape, ascii(payload[:99])
            assert page.evaluate(RUNNING) == [], ascii(payload[:99])
            page.evaluate(OPEN_DETAILS)
            page.locator("#line-view").focus()
            page.keyboard.press("+")
            assert page.evaluate("document.documentElement.scrollWidth") <= 1280
            assert opened_page.activity == [], ascii(payload[:99])


def test_content_security_policy_blocks_injected_markup(
    small: Path, look: Look, tmp_path: Path
) -> None:
    """The policy is a second line of defence if a text is not escaped."""
    injected = (
        "<script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\">"
        "<svg onload=\"document.title='ran'\"></svg><link rel=stylesheet href='https://evil.example'>"
        "<iframe srcdoc=\"<script>parent.document.title='ran'</script>\"></iframe>"
        "<p id=in style='color: red'>in</p>"
    )
    page = tmp_path / "report.html"
    page.write_text(small.read_text().replace("<main", injected + "<main"))
    with look(page) as opened_page:
        assert opened_page.page.locator("#in").count() == 1
        assert "ran" not in opened_page.page.title()
        assert any("Content Security Policy" in entry for entry in opened_page.activity)
        assert not any(entry.startswith(("request", "dialog")) for entry in opened_page.activity)
        opened_page.page.locator("#line-view").focus()
        opened_page.page.keyboard.press("+")  # the report's script still runs
        assert opened_page.range.startswith("5.0 s to 15.0 s")
