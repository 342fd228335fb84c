"""The reference page of outputs matches the code."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.user_pipeline.outputs.kinds import output_kinds
from onceproof.harness.user_pipeline.outputs.page import page

ROOT = Path(__file__).parents[5]


def test_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "reference" / "outputs.md").read_text(encoding="utf-8")
    assert written == page(), "run: make reference"


def test_page_has_a_row_for_each_kind() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| `")]
    assert len(rows) == len(output_kinds())
    for kind, row in zip(output_kinds().values(), rows, strict=True):
        assert all(each in row for each in (f"`{kind.usage}`", kind.says, kind.untested))
