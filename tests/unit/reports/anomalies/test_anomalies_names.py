"""Names from histories are shortened and escaped, and stay distinct."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from onceproof.reports.anomalies.names import Names, fitted, harmless


@pytest.mark.parametrize("limit", [3, 6, 14])
def test_shortened_names_stay_distinct(limit: int) -> None:
    names = Names(limit)
    given = [f"{'long' * 20}{i}{'name' * 20}" for i in range(12)] + ["a", "b", "", "''"]
    short = [names(name) for name in given]
    assert len(set(short)) == len(given)
    assert max(map(cell_len, short)) <= max(limit, 4)
    assert [names(name) for name in given] == short


def test_shortens_names_in_the_middle() -> None:
    assert fitted("transfer-000123", 9) == "tran…0123"
    assert fitted("short", 9) == "short"
    assert cell_len(fitted("漢字" * 20, 9)) <= 9


def test_escapes_control_and_bidirectional_characters() -> None:
    assert harmless("a\nb\x1b[31m") == "a b\\x1b[31m"
    assert harmless("\u202eabc") == "\\u202eabc"
    assert harmless("\u05d0\u0639") == "\\u05d0\\u0639"
    assert harmless(None) == "–"
