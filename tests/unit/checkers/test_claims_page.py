"""The reference page of claims matches the code."""

from __future__ import annotations

from pathlib import Path

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.claims_page import page
from onceproof.checkers.refutations import GUARANTEES

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "claims.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run: make reference"


def test_page_lists_every_guarantee_and_anomaly() -> None:
    text = page()
    for guarantee in GUARANTEES:
        assert f"\n## {guarantee}\n" in text
    rows = [line for line in text.splitlines() if line.startswith("| [")]
    assert [line.split("]")[0].removeprefix("| [") for line in rows] == list(anomalies())
    assert all(cell for line in rows for cell in ["".join(line.split("|")[2:]).strip()])
