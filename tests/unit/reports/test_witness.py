"""Witness rows: what is common is shown once, and nothing is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onceproof.reports.html.witness import witness
from onceproof.reports.model import Row

NAMES = ("record", "position", "batch")
VALUES = st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.sampled_from(["a", "b"]))
ROWS = st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)), min_size=1, max_size=4)


@given(ROWS)
def test_rows_can_be_put_together_again(rows: list[Row]) -> None:
    found = witness(rows)
    several = found.rows or ((),) * len(rows)
    again = [found.common | dict(zip(found.columns, row, strict=True)) for row in several]
    # By their text: 1 and True are equal.
    assert [repr(sorted(row.items())) for row in again] == [
        repr(sorted(row.items())) for row in rows
    ]


def test_only_what_differs_has_a_column() -> None:
    found = witness(
        [{"record": "a", "seen": 2, "position": p, "batch": b} for p, b in (("x", 7), ("y", True))]
    )
    assert found.common == {"record": "a", "seen": 2}
    assert found.columns == ("position", "batch")
    assert found.rows == (("x", 7), ("y", True))


def test_one_row_has_no_differences() -> None:
    assert witness([{"record": "a", "at": None}]) == ({"record": "a", "at": None}, (), ())
