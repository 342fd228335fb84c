"""The reference page of outputs is what they are."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.user_pipeline.outputs.kinds import output_kinds
from onceproof.harness.user_pipeline.outputs.page import page

HERE = Path(__file__).parents[5]


def test_the_page_is_up_to_date() -> None:
    written = (HERE / "docs" / "reference" / "outputs.md").read_text(encoding="utf-8")
    assert written == page(), "run: make reference"


def test_every_kind_has_a_row() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| `")]
    assert len(rows) == len(output_kinds())
    for kind, row in zip(output_kinds().values(), rows, strict=True):
        assert all(each in row for each in (f"`{kind.usage}`", kind.says, kind.untested))
