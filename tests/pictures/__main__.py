"""Make the pictures of README and documentation anew, from a real run.

    make pictures

It runs a scenario that violates its claim, opens the report in Chromium, and takes pictures of its
head and of the timeline around a finding. Chromium must be installed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

from benchmarks.report import BROWSERS, browser
from onceproof.command import command

SCENARIO: Final = "spark-foreachbatch-postgres-unguarded"
SEED: Final = 11
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


if __name__ == "__main__":
    sys.exit(main())
