"""A lab on its page, in a headless Chromium: faults by clicks, held messages, the verdict."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.report import browser
from tests.end_to_end.command import Started, onceproof
from tests.end_to_end.test_ending import assert_nothing_remains

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

SECONDS = 180_000
"""For what the stage does, in milliseconds."""
VIEWS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 390)]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = browser()
    if path is None:
        pytest.skip("no chromium, chromium-browser or google-chrome is on PATH: install one")
    expect.set_options(timeout=SECONDS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


class OpenLab:
    """A lab that runs, and its page."""

    def __init__(self, chromium: Browser, runs: Path) -> None:
        self.name = f"page-{runs.name}"[-30:]
        self.chromium = chromium
        self.command = Started(
            *("lab", "consume-transform-produce-quiet", "--web", "--name", self.name),
            *("--seed", "3", "--out", runs),
        )
        self.command.wait_for("Page, for one browser")
        self.link = re.findall(r"http://\S+", self.command.err)[-1]
        self.troubles: list[str] = []
        self.page = self.open(self.link)
        self.command.wait_for("phase +disturb")

    def open(self, link: str) -> Page:
        """Open a link in a browser context of its own, and record errors of the page."""
        page = self.chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(SECONDS)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda line: self.troubles.append(line.text))
        page.goto(link)
        return page

    def inject(self, thing: str, fault: str, **choices: str) -> None:
        """Click on a thing, and on one of its faults; heal nothing."""
        self.page.get_by_role("button", name=re.compile(rf"^{re.escape(thing)}\b")).first.click()
        form = self.page.locator(f"dialog form[aria-label='{fault}']")
        for name, value in choices.items():
            form.get_by_label(name).fill(value)
        form.get_by_role("button", name=fault, exact=True).click()
        expect(self.page.locator("dialog")).to_have_count(0)

    def fault(self, name: str, state: str) -> str:
        """Wait until a fault is in a state; return what its row says."""
        row = self.page.locator(".fault-row", has_text=re.compile(rf"^{name} "))
        expect(row.locator(".state")).to_have_text(state)
        return row.inner_text()

    def heal(self, name: str) -> None:
        self.page.get_by_role("button", name=f"Heal {name}", exact=True).click()
        self.fault(name, "healed")

    def act_on_message(self, audience: str, direction: str, api: str, action: str) -> None:
        form = self.page.locator("form[aria-label=message]")
        for name, value in (
            ("audience", audience), ("direction", direction), ("API", api), ("action", action),
        ):  # fmt: skip
            form.get_by_label(name).select_option(value)
        form.get_by_role("button", name="message").click()


@pytest.fixture(scope="module")
def lab(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenLab]:
    opened = OpenLab(chromium, tmp_path_factory.mktemp("lab"))
    yield opened
    if opened.command.popen.poll() is None:
        opened.command.send(signal.SIGKILL)
        opened.command.popen.wait(10)


def test_page_shows_what_moves(lab: OpenLab) -> None:
    page = lab.page
    expect(page.locator("#groups")).to_be_visible()
    expect(page.get_by_text("member-0: payments")).to_be_visible()
    expect(page.get_by_text("leads 2 of 6 partitions")).to_have_count(3)
    expect(page.locator(".chart polyline")).to_have_count(3)

    before = acknowledged(page)
    expect(page.locator("header .lead")).not_to_contain_text(f"{before:,} of")
    assert acknowledged(page) > before


def acknowledged(page: Page) -> int:
    found = re.search(r"([\d,]+) of 100,000", page.locator("header").inner_text())
    assert found is not None
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_axe_finds_no_violations(lab: OpenLab, scheme: str, width: int) -> None:
    page = lab.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    try:
        assert Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name=re.compile("^broker-2")).first.click()
        assert Axe().run(page).response["violations"] == []
        page.get_by_role("button", name="Close").click()
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme="light")


CLICKED = [
    ("pipeline to broker-1: open", "cut", "cut-1", "new ones refused"),
    ("producer to broker-2: open", "lose-requests", "lose-requests-1", ""),
    ("pipeline to broker-3: open", "reset", "reset-1", "reset"),
    ("broker-2", "isolate", "isolate-1", ""),
    ("broker-3", "pause", "pause-1", "state T"),
    ("broker-1", "kill", "kill-1", "signal 9"),
    ("member-0", "kill", "kill-2", "signal 9"),
    ("producer-0", "kill", "kill-3", "signal 9"),
    ("payments-0", "lose-responses", "lose-responses-1", ""),
    ("postgres", "stop", "stop-1", "status 0"),
]


@pytest.mark.parametrize(("thing", "fault", "name", "evidence"), CLICKED)
def test_fault_by_click_takes_effect_and_is_healed(
    lab: OpenLab, thing: str, fault: str, name: str, evidence: str
) -> None:
    lab.inject(thing, fault)
    assert evidence in lab.fault(name, "took effect")
    lab.heal(name)


def test_held_message_is_seen_and_let_go(lab: OpenLab) -> None:
    lab.act_on_message("pipeline", "request", "EndTxn", "hold")
    held = lab.page.locator(".held")
    expect(held).to_have_count(1)
    assert re.search(r"transactional ids\s+\[\"billing-member-\d\"\]", held.inner_text())
    held.get_by_role("button", name="Let it go, hold the next").click()
    lab.fault("message-1", "healed")
    expect(lab.page.locator(".held", has_text="message-2")).to_have_count(1)
    lab.page.locator(".held").get_by_role("button", name="Let it go", exact=True).click()
    assert "hold: EndTxn request" in lab.fault("message-2", "healed")


def test_held_message_is_answered_with_an_error(lab: OpenLab) -> None:
    lab.act_on_message("pipeline", "response", "EndTxn", "hold")
    held = lab.page.locator(".held")
    expect(held).to_have_count(1)
    held.get_by_label("error").select_option("NOT_COORDINATOR")
    held.get_by_role("button", name="Answer with it").click()
    lab.fault("message-3", "healed")
    text = ", then error NOT_COORDINATOR"
    expect(lab.page.locator(".fault-row", has_text=text)).to_have_count(1)


def test_refused_fault_says_why(lab: OpenLab) -> None:
    troubles = len(lab.troubles)
    lab.page.get_by_role("button", name="Other faults").click()
    form = lab.page.locator("dialog form[aria-label=split]")
    for field in form.locator("input").all():
        field.fill("nobody")
    form.get_by_role("button", name="split").click()
    expect(form.get_by_role("alert")).to_contain_text("nobody")
    lab.page.get_by_role("button", name="Close").click()
    del lab.troubles[troubles:]  # the browser reports every answer that is an error


def test_two_browsers_see_the_same(lab: OpenLab) -> None:
    address = onceproof("link", "--lab", lab.name).out.strip()
    other = lab.open(address)
    expect(other.locator(".fault-row p")).to_have_text(
        lab.page.locator(".fault-row p").all_text_contents()
    )
    other.get_by_label("For the report").fill("seen by both")
    other.get_by_role("button", name="Add", exact=True).click()
    expect(lab.page.locator(".events")).to_contain_text("seen by both")
    other.close()


def test_used_link_shows_nothing(lab: OpenLab) -> None:
    troubles = len(lab.troubles)
    stranger = lab.open(lab.link)
    expect(stranger.get_by_role("alert")).to_contain_text("no session")
    assert "consume-transform-produce" not in stranger.content()
    stranger.close()
    del lab.troubles[troubles:]


def test_lab_ends_with_verdict_and_report_on_the_page(lab: OpenLab) -> None:
    page = lab.page
    page.get_by_role("button", name="End and judge").click()
    expect(page.locator("#verdict")).to_be_visible()
    link = page.get_by_role("link", name="Open the report")
    expect(link).to_be_visible()
    with page.context.expect_page() as opened:
        link.click()
    report = opened.value
    expect(report.locator("#claims")).to_be_visible()
    expect(report.locator("#notes")).to_be_visible()
    expect(report.get_by_text("seen by both")).to_be_visible()
    done = lab.command.finish()
    verdicts = page.locator(".claims .verdict").all_inner_texts()
    assert verdicts == [claim["verdict"] for claim in done.report["claims"]]
    assert [note["text"] for note in done.report["extensions"]["notes"]] == ["seen by both"]
    assert lab.troubles == []
    assert_nothing_remains(lab.command)
