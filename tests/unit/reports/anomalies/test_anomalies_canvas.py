"""Strokes that join, text that keeps its columns, names that stay apart."""

from __future__ import annotations

import itertools

import pytest
from rich.cells import cell_len

from onceproof.reports.anomalies.canvas import Canvas, Tone, _box_characters, in_ascii, plain
from onceproof.reports.anomalies.names import Names, fitted, harmless


def test_every_way_to_join_has_a_character() -> None:
    joins = set(itertools.product(range(3), repeat=4)) - {(0, 0, 0, 0)}
    assert joins == _box_characters().keys()
    assert _box_characters()[1, 1, 1, 1] == "┼"
    assert _box_characters()[0, 2, 1, 0] == "┍"
    assert _box_characters()[2, 1, 1, 2] == "╃"


def test_strokes_join_by_themselves() -> None:
    canvas = Canvas()
    canvas.box(0, 0, 4, 2)
    canvas.box(4, 0, 8, 2, wrong=True)
    canvas.down(2, 2, 3)
    assert plain(canvas.lines()).splitlines() == [
        "┌───┲━━━┓",
        "│   ┃   ┃",
        "└─┬─┺━━━┛",
        "  ╵",
    ]


def test_what_passes_under_does_not_join() -> None:
    canvas = Canvas()
    canvas.down(2, 0, 2)
    canvas.across(0, 4, 1, under={2})
    assert plain(canvas.lines()).splitlines()[1] == "╶─│─╴"


def test_what_is_missing_is_dashed() -> None:
    canvas = Canvas()
    canvas.across(0, 3, 0, dashed=True, wrong=True)
    assert plain(canvas.lines()) == "╺╍╍╸"


def test_tones_come_out_as_pieces() -> None:
    canvas = Canvas()
    canvas.put(0, 0, "ab", Tone.WRONG)
    canvas.put(2, 0, "c")
    ((first, second),) = canvas.lines()
    assert (first.text, first.tone, second.text, second.tone) == ("ab", "wrong", "c", "plain")


def test_wide_and_combining_characters_keep_their_columns() -> None:
    canvas = Canvas()
    assert canvas.put(0, 0, "漢e\u0301x") == 4
    canvas.put(4, 0, "|")
    assert plain(canvas.lines()) == "漢e\u0301x|"
    assert cell_len("漢e\u0301x") == 4


def test_ascii_keeps_the_places() -> None:
    drawn = "┏━┱─┐\n✗ a ▼ ⋯ ◀╌╌╴"
    assert in_ascii(drawn) == "+-+-+\nx a v ~ <---"
    assert len(in_ascii(drawn)) == len(drawn)


@pytest.mark.parametrize("limit", [3, 6, 14])
def test_different_names_stay_different(limit: int) -> None:
    names = Names(limit)
    given = [f"{'long' * 20}{i}{'name' * 20}" for i in range(12)] + ["a", "b", "", "''"]
    short = [names(name) for name in given]
    assert len(set(short)) == len(given)
    assert max(map(cell_len, short)) <= max(limit, 4)
    assert [names(name) for name in given] == short


def test_names_are_cut_in_the_middle() -> None:
    assert fitted("transfer-000123", 9) == "tran…0123"
    assert fitted("short", 9) == "short"
    assert cell_len(fitted("漢字" * 20, 9)) <= 9


def test_names_do_nothing() -> None:
    assert harmless("a\nb\x1b[31m") == "a b\\x1b[31m"
    assert harmless("\u202eabc") == "\\u202eabc"
    assert harmless("\u05d0\u0639") == "\\u05d0\\u0639"
    assert harmless(None) == "–"
