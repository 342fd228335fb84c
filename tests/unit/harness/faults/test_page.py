"""The reference page of faults, and that it is what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.faults.by_hand import ByHand, asked, by_hand
from onceproof.harness.faults.page import ROLES, TARGET, cell, page

HERE = Path(__file__).parents[4]


def test_the_page_is_up_to_date() -> None:
    written = (HERE / "docs" / "reference" / "faults.md").read_text()
    assert written == page(), (
        "run: python -m onceproof.harness.faults.page > docs/reference/faults.md"
    )


@pytest.mark.parametrize("entry", by_hand().values(), ids=lambda entry: str(entry.name))
def test_an_example_fits_and_a_fault_says_what_it_is(entry: ByHand) -> None:
    name, *words = entry.example.split()
    assert name == entry.name
    fault = asked(name, words)
    assert fault.kind in {"crash", "partition", "timeout", "surgery"}
    assert fault.describe()


def test_what_a_fault_can_be_aimed_at() -> None:
    kill, cut = by_hand()["kill"], by_hand()["cut"]
    assert cell(kill, "controller") == ["controller"]
    assert cell(kill, "postgres") is None
    assert cell(cut, "postgres") == ["pipeline", "postgres"]
    assert cell(by_hand()["rolling-restart"], "broker-2") is None
    aimed = [e for e in by_hand().values() if any(t.startswith(TARGET) for t in e.takes)]
    assert all(cell(entry, role) for entry in aimed for role in list(ROLES.values())[:-1])
