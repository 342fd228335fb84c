"""The reference page of faults matches the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.faults.by_hand import ByHand, asked, by_hand
from onceproof.harness.faults.page import ROLES, TARGET, cell, page

ROOT = Path(__file__).parents[4]


def test_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "reference" / "faults.md").read_text()
    assert written == page(), (
        "run: python -m onceproof.harness.faults.page > docs/reference/faults.md"
    )


@pytest.mark.parametrize("entry", by_hand().values(), ids=lambda entry: str(entry.name))
def test_example_parses_to_a_described_fault(entry: ByHand) -> None:
    name, *words = entry.example.split()
    assert name == entry.name
    fault = asked(name, words)
    assert fault.kind in {"crash", "partition", "timeout", "surgery"}
    assert fault.describe()


def test_cell_lists_the_targets_of_a_fault() -> None:
    kill, cut = by_hand()["kill"], by_hand()["cut"]
    assert cell(kill, "controller") == ["controller"]
    assert cell(kill, "postgres") is None
    assert cell(cut, "postgres") == ["pipeline", "postgres"]
    assert cell(by_hand()["rolling-restart"], "broker-2") is None
    targeted = [e for e in by_hand().values() if any(t.startswith(TARGET) for t in e.takes)]
    assert all(cell(entry, role) for entry in targeted for role in list(ROLES.values())[:-1])
