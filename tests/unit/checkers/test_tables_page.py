"""The reference page of tables matches the code."""

from __future__ import annotations

from pathlib import Path

from onceproof.checkers.tables import TABLES
from onceproof.checkers.tables_page import page

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "history.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run: python -m onceproof.checkers.tables_page > docs/reference/history.md"
    )


def test_every_column_has_a_row() -> None:
    text = page()
    for table in TABLES.values():
        section = text.split(f"\n## {table.name}\n")[1].split("\n## ")[0]
        assert [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")] == [
            column.name for column in table.columns
        ]
