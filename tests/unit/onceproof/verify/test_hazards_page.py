"""The reference page of the hazards matches the registry."""

from __future__ import annotations

from pathlib import Path

from onceproof.verify.hazards.registry import TABLE
from onceproof.verify.hazards_page import page
from onceproof.verify.plan import ROUNDS

ROOT = Path(__file__).parents[4]


def test_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "reference" / "hazards.md").read_text(encoding="utf-8")
    assert written == page(), "run: make reference"


def test_every_hazard_has_a_row_with_its_marks() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| `")]
    assert len(rows) == len(TABLE)
    for hazard, row in zip(TABLE, rows, strict=True):
        head, description, of, proof = (cell.strip() for cell in row.strip("|").split("|"))
        marks = {"†": hazard.rare, "‡": hazard.brutal}
        assert head.startswith(f"`{hazard.name}`")
        assert {mark for mark, has in marks.items() if has} == set(head) & set(marks)
        assert (description, of, proof) == (hazard.says, hazard.of, hazard.proof)


def test_page_says_how_often_each_preset_tests_a_hazard() -> None:
    assert all(f"`{name}` {rounds}×" in page() for name, rounds in ROUNDS.items())
