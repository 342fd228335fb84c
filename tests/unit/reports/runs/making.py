"""Small runs for the tests of an index of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onceproof.checkers.model import Verdict
from onceproof.reports.runs.claims import ClaimResult
from onceproof.reports.runs.run import Run


def told(
    name: str = "exactly-once a → b",
    verdict: Verdict = Verdict.HOLDS,
    *by: str,
    expected: bool = True,
    should_be: str = "holds",
) -> ClaimResult:
    return ClaimResult(
        name=name,
        verdict=verdict,
        expected=expected,
        should_be=should_be,
        reason="Because.",
        refuted_by=by,
    )


WRONG = told("exactly-once a → b", Verdict.VIOLATED, "duplicate-output", expected=False)


def run(place: int = 0, *claims: ClaimResult, **more: Any) -> Run:
    """A run that came out as it should; `place` is its place in time."""
    claims = claims or (told(),)
    folder = Path("runs", f"2025010{place}T000000Z-small-7")
    facts: dict[str, Any] = {
        "folder": folder,
        "page": folder / "report.html",
        "scenario": "small",
        "title": "A small run",
        "subject": "forwarder",
        "own": None,
        "backend": "local",
        "seed": 7,
        "started_at": f"2025-01-0{place}T00:00:00+00:00",
        "seconds": 10.0 + place,
        "kinds": ("crash",),
        "faults": ("leader killed",),
        "claims": claims,
        "verdict": claims[0].verdict,
        "finished": True,
        "code": "0123456789ab",
        "setup": "one",
    }
    return Run(**facts | more)
