"""The reference page of the hazards is what they are."""

from __future__ import annotations

from pathlib import Path

from onceproof.verify.hazards.registry import TABLE
from onceproof.verify.hazards_page import page
from onceproof.verify.plan import ROUNDS

HERE = Path(__file__).parents[4]


def test_the_page_is_up_to_date() -> None:
    written = (HERE / "docs" / "reference" / "hazards.md").read_text(encoding="utf-8")
    assert written == page(), "run: make reference"


def test_every_hazard_has_a_row_with_its_marks() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| `")]
    assert len(rows) == len(TABLE)
    for hazard, row in zip(TABLE, rows, strict=True):
        head, says, of, proof = (cell.strip() for cell in row.strip("|").split("|"))
        marks = {"†": hazard.rare, "‡": hazard.brutal}
        assert head.startswith(f"`{hazard.name}`")
        assert {mark for mark, has in marks.items() if has} == set(head) & set(marks)
        assert (says, of, proof) == (hazard.says, hazard.of, hazard.proof)


def test_the_page_says_how_often_each_preset_meets_them() -> None:
    assert all(f"`{name}` {rounds}×" in page() for name, rounds in ROUNDS.items())
