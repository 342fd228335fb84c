"""The reference page of claims, and that it is what the code says."""

from __future__ import annotations

from pathlib import Path

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.claims_page import page
from onceproof.checkers.refutations import GUARANTEES

WRITTEN = Path(__file__).parents[3] / "docs" / "reference" / "claims.md"


def test_the_page_is_up_to_date() -> None:
    assert WRITTEN.read_text() == page(), "run: make reference"


def test_every_guarantee_and_every_anomaly_is_on_it() -> None:
    told = page()
    for guarantee in GUARANTEES:
        assert f"\n## {guarantee}\n" in told
    rows = [line for line in told.splitlines() if line.startswith("| [")]
    assert [line.split("]")[0].removeprefix("| [") for line in rows] == list(anomalies())
    assert all(cell for line in rows for cell in ["".join(line.split("|")[2:]).strip()])
