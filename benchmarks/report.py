"""How fast a large report opens: `make bench-report`, or `python -m benchmarks.report --help`.

The report is of a generated history that was judged, a thousand findings in
two hundred thousand records, and it is opened in the Chromium that is installed, each time anew.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from unittest.mock import patch

from benchmarks.bulk import BEGIN, CLOCK, SINK, TOPIC, VIEW
from benchmarks.generate import generate
from benchmarks.plan import CACHE, Plan
from onceproof.checkers.claims import exactly_once
from onceproof.checkers.claims_json import claim_to_json
from onceproof.harness.history.folder import seal_folder
from onceproof.harness.history.run_record import RunRecord, Step
from onceproof.outcome import check_run
from onceproof.reports.write import HTML_FILE

RECORDS: Final = 200_000
FINDINGS: Final = 1_000
LARGEST: Final = 2_000_000
"""Bytes that the page may have; printed, and enforced by a test."""
LONGEST: Final = 2.0
"""Seconds that it may take to open; printed, never enforced."""
_BEGUN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_LOGGED_SECONDS: Final = 60
_DRAWN: Final = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")


def browser() -> str | None:
    """The Chromium that is installed; None if there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def make_report(folder: Path, *, cache: Path = CACHE, records: int = RECORDS) -> Path:
    """Judge a generated history with `FINDINGS` findings and write its report, every finding told.

    Args:
        folder: becomes the run folder; it must not exist.
        cache: where generated histories are kept.
        records: how many are sent.

    Returns:
        The page.
    """
    plan = Plan(records=records, drop=FINDINGS // 2, duplicate=FINDINGS // 2)
    made = generate(plan, cache)
    folder.mkdir(parents=True)
    # A copy: a run folder whose history is a link out of it is refused.
    shutil.copytree(made / "history", folder / "history")
    (folder / "logs").mkdir()
    for broker in (1, 2, 3):
        (folder / "logs" / f"broker-{broker}.1.log").write_text("".join(_log_lines()))
    _record(folder.name, records).save(folder)
    seal_folder(folder)
    # Else the first few of each anomaly are told, and the others counted.
    with patch("onceproof.checkers.engines.overlay.SHOWN", FINDINGS):
        report = check_run(folder).report
    counts = {group.anomaly: (group.count, len(group.shown)) for group in report.findings}
    if sum(count for count, _ in counts.values()) < FINDINGS:
        raise AssertionError(f"the report has {counts}, expected were {FINDINGS} findings")
    return folder / HTML_FILE


def _log_lines() -> Iterator[str]:
    """What a broker may have said, every tenth of a second."""
    for tenth in range(_LOGGED_SECONDS * 10):
        at = _BEGUN + timedelta(seconds=tenth / 10)
        yield f"[{at:%Y-%m-%dT%H:%M:%S},{at.microsecond // 1000:03d}] INFO line {tenth} (kafka)\n"


def _record(run: str, records: int) -> RunRecord:
    """What a run would have said of itself."""
    claim = exactly_once(TOPIC, into=SINK, view=VIEW)
    return RunRecord(
        run=run,
        scenario="generated",
        title="A generated history",
        seed=1,
        repeat="make bench-report",
        started_at=_BEGUN.isoformat(),
        clock=CLOCK,
        monotonic_ns=BEGIN,
        wall_ns=round(_BEGUN.timestamp()) * 1_000_000_000,
        host={},
        versions={},
        subject="generated",
        subject_says="Nothing ran: this is a measurement of reports.",
        workload={"records": records},
        configuration={},
        schedule=[
            Step(fault="driver killed", kind="crash", when="half-way", do="kill it", until="up")
        ],
        claims=[claim_to_json(claim)],
    )


def open_times(page: Path, chromium: str, times: int) -> list[float]:
    """Seconds from asking for the page until it is loaded and drawn, each in a new context."""
    from playwright.sync_api import sync_playwright

    seconds = []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(times):
            context = started.new_context(viewport={"width": 1280, "height": 900})
            tab = context.new_page()
            begun = time.monotonic()
            tab.goto(page.absolute().as_uri(), wait_until="load")
            tab.evaluate(_DRAWN)
            seconds.append(time.monotonic() - begun)
            context.close()
        started.close()
    return seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the report, open it some times, and print what it took."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--times", type=int, default=7)
    options.add_argument("--records", type=int, default=RECORDS)
    options.add_argument("--cache", type=Path, default=CACHE)
    given = options.parse_args(arguments)
    chromium = browser()
    if chromium is None:
        print(f"No Chromium is installed: none of {', '.join(BROWSERS)} is on PATH.")
        return 3
    folder: Path = given.cache / f"report-of-{given.records}"
    shutil.rmtree(folder, ignore_errors=True)
    page = make_report(folder, cache=given.cache, records=given.records)
    size = page.stat().st_size
    seconds = sorted(open_times(page, chromium, given.times))
    told = json.loads((folder / "report.json").read_text())["findings"]
    print(f"{given.records} records, {sum(g['count'] for g in told)} findings, "
          f"{sum(len(g['shown']) for g in told)} of them told")  # fmt: skip
    print(f"page   {size / 1e6:.2f} MB, at most {LARGEST / 1e6:.0f}")
    print(
        f"opens  best {seconds[0]:.2f} s, median {statistics.median(seconds):.2f} s, worst "
        f"{seconds[-1]:.2f} s of {len(seconds)}, at most {LONGEST:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
