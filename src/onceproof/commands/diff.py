"""`onceproof diff`: compare two runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from onceproof.reports.cost.compare import compare_costs, lines
from onceproof.reports.cost.model import is_cost, load_cost
from onceproof.reports.diff.compare import compare
from onceproof.reports.diff.data import diff_json
from onceproof.reports.diff.load import load_side
from onceproof.reports.diff.model import Outcome
from onceproof.reports.write import UnreadableReport, write_whole

USAGE: Final = 2
TROUBLE: Final = 3
RECORD, ANOMALY = "record", "anomaly"
_EXIT_CODES: Final = {
    Outcome.NOTHING_NEW: 0,
    Outcome.NEW: 1,
    Outcome.NOT_COMPARABLE: 3,
    Outcome.OPEN: 5,
}
"""As for verdicts: 1 proven, 3 not comparable, 5 undecided."""


def diff(a: Path, b: Path, *, by: str | None, json: Path | None, html: Path | None) -> int:
    """Compare two runs, print the difference, and write it to files if asked.

    Args:
        a: run folder, report or judgement; the baseline.
        by: `record` or `anomaly`; None: by record where that is known to be valid.
    """
    try:
        if is_cost(a) and is_cost(b):
            return _costs(a, b, json=json, html=html, by=by)
        return _runs(a, b, json=json, html=html, by=by)
    except UnreadableReport as error:
        print(f"onceproof: {error}", file=sys.stderr)
        return USAGE
    except OSError as error:
        print(f"onceproof: {error.strerror or error} ({error.filename}).", file=sys.stderr)
        return TROUBLE


def _runs(a: Path, b: Path, *, json: Path | None, html: Path | None, by: str | None) -> int:
    """Compare two runs."""
    from onceproof.reports.diff.terminal import print_diff

    found = compare(load_side(a), load_side(b), by_record=None if by is None else by == RECORD)
    if json is not None:
        write_whole(json, diff_json(found))
    if html is not None:
        from onceproof.reports.diff.page import render

        write_whole(html, render(found, html.parent))
    print_diff(found, sys.stdout)
    return _EXIT_CODES[found.outcome]


def _costs(a: Path, b: Path, *, json: Path | None, html: Path | None, by: str | None) -> int:
    """Compare two measurements of costs."""
    if html is not None or by is not None:
        option = "--by" if html is None else "--html"
        print(f"onceproof diff: {option} is for runs, not for measurements.", file=sys.stderr)
        return USAGE
    found = compare_costs(load_cost(a), load_cost(b))
    if json is not None:
        write_whole(json, found.as_json())
    print("\n".join(lines(found)))
    if not found.rows:
        return TROUBLE
    if found.worse:
        return _EXIT_CODES[Outcome.NEW]
    return _EXIT_CODES[Outcome.NOTHING_NEW if found.resolved else Outcome.OPEN]
