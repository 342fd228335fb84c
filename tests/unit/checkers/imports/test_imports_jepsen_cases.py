"""Our findings in Jepsen's own cases match the table and the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.checkers import BadClaim, Hop
from onceproof.checkers.refutations import refutations
from tests.unit.checkers.imports.histories import judged, named
from tests.unit.checkers.imports.jepsen_cases import CASES, Case
from tests.unit.checkers.imports.jepsen_cases.page import PAGE, page


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_findings_match_the_table(tmp_path: Path, case: Case) -> None:
    judgement = judged(tmp_path, case.history)
    assert named(judgement.findings) == case.ours
    verdicts = {claim.claim.guarantee: claim.verdict.value for claim in judgement.claims}
    refuted = case.ours.keys() & refutations("exactly-once", Hop.PRODUCE)
    assert (verdicts["exactly-once"] == "violated") is bool(refuted)
    assert "holds" not in verdicts.values() or "final polls" in case.name or not case.asserts


def test_rejects_history_without_sends_or_polls(tmp_path: Path) -> None:
    with pytest.raises(BadClaim, match="expected rows in sends"):
        judged(tmp_path, "0 * assign [5]")


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), (
        "run: python -m tests.unit.checkers.imports.jepsen_cases.page"
    )
