"""Small runs for the tests of the run index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onceproof.checkers.model import Verdict
from onceproof.reports.runs.claims import ClaimResult
from onceproof.reports.runs.run import Run


def claim_result(
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


WRONG = claim_result("exactly-once a → b", Verdict.VIOLATED, "duplicate-output", expected=False)


def run(place: int = 0, *claims: ClaimResult, **overrides: Any) -> Run:
    """A run with expected verdicts; `place` orders runs in time."""
    claims = claims or (claim_result(),)
    folder = Path("runs", f"2025010{place}T000000Z-small-7")
    defaults: dict[str, Any] = {
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
    return Run(**defaults | overrides)
