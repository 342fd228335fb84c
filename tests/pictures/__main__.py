"""Make the pictures of README and documentation anew, from a real run.

    make pictures

It runs a scenario that violates its claim, opens the report in Chromium, and takes pictures of its
head and of the timeline around a finding; then it opens the page of a lab, and holds a message.
Chromium must be installed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

from benchmarks.report import BROWSERS, browser
from onceproof.command import command

SCENARIO: Final = "spark-foreachbatch-postgres-unguarded"
SEED: Final = 11
LAB: Final = "consume-transform-produce-quiet"
PICTURES: Final = Path("docs/pictures")
_WIDTH, _HEIGHT = 1100, 760
_SECONDS: Final = 600.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make pictures", description=__doc__)
    parser.add_argument("--run", type=Path, help="the folder of a run, instead of a new one")
    parser.add_argument("--out", type=Path, default=PICTURES)
    given = parser.parse_args(arguments)
    path = browser()
    if path is None:
        print(f"make pictures needs one of {', '.join(BROWSERS)}.", file=sys.stderr)
        return 3
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = (given.run or _run(Path(folder))) / "report.html"
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = chromium.new_page(
            viewport={"width": _WIDTH, "height": _HEIGHT}, device_scale_factor=1.25
        )
        page.goto(report.resolve().as_uri())
        page.screenshot(path=given.out / "report.png")
        _timeline(page, given.out / "timeline.png")
        _lab(page, Path(folder), given.out / "lab.png")
        chromium.close()
    return 0


def _run(folder: Path) -> Path:
    words = command("run", SCENARIO, "--seed", str(SEED), "--out", str(folder))
    subprocess.run(words, check=True, timeout=_SECONDS)
    (made,) = folder.glob("*/report.html")
    return made.parent


def _timeline(page: Page, target: Path) -> None:
    """Take a picture of the timeline, twice as large around the first mark of a finding."""
    timeline = page.locator(".timeline").first
    timeline.scroll_into_view_if_needed()
    mark = page.locator("#plot a[href^='#finding']").first.bounding_box()
    assert mark is not None, "the run has a finding with a time"
    page.mouse.move(mark["x"], mark["y"])
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    timeline.screenshot(path=target)


def _lab(page: Page, folder: Path, target: Path) -> None:
    """Take a picture of a lab that holds a commit, after a minute of figures."""
    words = command("lab", LAB, "--web", "--name", "pictures", "--out", str(folder))
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as lab:
        assert lab.stderr is not None
        link = next(found[0] for line in lab.stderr if (found := re.search(r"http://\S+", line)))
        threading.Thread(target=lab.stderr.read, daemon=True).start()
        try:
            page.set_default_timeout(_SECONDS * 1000)
            page.goto(link)
            page.get_by_text("member-0: payments").wait_for()
            page.wait_for_timeout(60_000)
            form = page.locator("form[aria-label=message]")
            form.get_by_label("audience").select_option("pipeline")
            form.get_by_label("API").select_option("EndTxn")
            form.get_by_role("button", name="message").click()
            page.locator(".held").wait_for()
            page.set_viewport_size({"width": 1280, "height": 1150})
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=target)
        finally:
            lab.terminate()


if __name__ == "__main__":
    sys.exit(main())
