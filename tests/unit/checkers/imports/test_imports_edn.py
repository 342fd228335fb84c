"""The EDN reader agrees with Clojure and reports errors with line and column."""

from __future__ import annotations

import io
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onceproof.checkers.imports.edn import BadEdn, Char, Map, Tagged, keyword, read, symbol
from tests.unit.checkers.imports.edn_values import to_edn, values


def forms(text: str | bytes) -> list[Any]:
    data = text.encode() if isinstance(text, str) else text
    return [form for _, form in read(io.BytesIO(data))]


def error_of(data: str | bytes) -> BadEdn | None:
    try:
        forms(data)
    except BadEdn as error:
        return error
    return None


def form(text: str) -> Any:
    (only,) = forms(f"[{text}]")
    return only


K = keyword


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nil", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("42N", 42),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("-1e3", -1000.0),
        ("2.50M", Decimal("2.50")),
        ("1/2", Fraction(1, 2)),
        ("##Inf", float("inf")),
        ('"a\\tb\\n\\"\\\\"', 'a\tb\n"\\'),
        ('"\\u00e9\\ud83d\\ude00\\101"', "é😀A"),
        ('"two\nlines"', "two\nlines"),
        ("\\a", Char("a")),
        ("\\newline", Char("\n")),
        ("\\u03a9", Char("Ω")),
        ("\\(", Char("(")),
        ("\\\\", Char("\\")),
        (":ok", K("ok")),
        (":seek-to-beginning?", K("seek-to-beginning?")),
        (":jepsen.history/index", K("jepsen.history/index")),
        ("read-only", symbol("read-only")),
        ("/", symbol("/")),
        ("[1 (2 [])]", (1, (2, ()))),
        ("{:a 1, [2] {3 4}}", Map({K("a"): 1, (2,): Map({3: 4})})),
        ("{{:a 1} 2 #{1} 3}", Map({Map({K("a"): 1}): 2, frozenset({1}): 3})),
        ("#{1 :b}", frozenset({1, K("b")})),
        ('#inst "2024-01-01"', Tagged("inst", "2024-01-01")),
        ("#a/b #c 1", Tagged("a/b", Tagged("c", 1))),
        ("#jepsen.history.Op{:f :send}", Tagged("jepsen.history.Op", Map({K("f"): K("send")}))),
        ("#:a{:b 1 :c/d 2}", Map({K("a/b"): 1, K("c/d"): 2})),
        ("[1 #_2 3 #_ #_ 4 5 6]", (1, 3, 6)),
        ("#_#a {} 1", 1),
        ("[1,2 ; three ]\n 4]", (1, 2, 4)),
    ],
)
def test_reads_forms_of_every_type(text: str, value: Any) -> None:
    assert form(text) == value
    assert type(form(text)) is type(value)


def test_similar_looking_types_are_distinct() -> None:
    assert form("[:a a \\a]") == (K("a"), symbol("a"), Char("a"))
    assert len({K("a"), symbol("a"), Char("a"), "a"}) == 4
    assert form(":a") is K("a")


def test_yields_each_form_with_its_line() -> None:
    lines = b'\xef\xbb\xbf{:a 1}\n; nothing\n#b {:c\n 2} [3\n (4)\n] "x\ny" 5'
    assert list(read(io.BytesIO(lines))) == [
        (1, Map({K("a"): 1})),
        (3, Tagged("b", Map({K("c"): 2}))),
        (4, 3),
        (5, (4,)),
        (6, "x\ny"),
        (7, 5),
    ]


def test_tag_functions_convert_values() -> None:
    tags = {"twice": lambda value: (value, value)}
    assert list(read(io.BytesIO(b"#twice 1 #other 2"), tags=tags)) == [
        (1, (1, 1)),
        (1, Tagged("other", 2)),
    ]


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("{:a 1", (1, 1), "expected `}` for `{` in line 1, found the end of the file"),
        ("{:a 1}\n]", (2, 1), "found an unmatched `]`"),
        ("{:a\n (1 2]}", (2, 6), "expected `)` for `(` in line 2, found `]`"),
        ("  {:a 1 :b}", (1, 11), "a value for each key of a map, found none for :b"),
        ("{:a 1 :a 2}", (1, 11), "unique keys in the map, found :a twice"),
        ("#{1 1}", (1, 6), "unique elements in the set, found 1 twice"),
        ('{:a "x', (1, 5), 'expected `"` at the end of the string'),
        ('{:a "x\ny\n', (1, 5), 'expected `"` at the end of the string'),
        ('"\\x"', (1, 1), "in a string, found `\\x`"),
        ('"\\ud800"', (1, 1), "both halves of a surrogate pair"),
        ("12a", (1, 1), "expected a number, found `12a`"),
        ("{:a 012}", (1, 5), "expected a number, found `012`"),
        ("1/0", (1, 1), "expected a number"),
        ("9" * 5000, (1, 1), "shorter number, found 5000"),
        (":", (1, 1), "expected a keyword such as `:ok`"),
        ("::a", (1, 1), "expected a keyword"),
        ("@a", (1, 1), "expected a form, found `@a`"),
        ("\\", (1, 1), "expected a character"),
        ("\\abc", (1, 1), "expected a character"),
        ("# ", (1, 1), "expected a tag such as `#inst`"),
        ("##Foo", (1, 1), "expected a tag"),
        ("[#_]", (1, 4), "expected a form after `#_` in line 1, found `]`"),
        ("#a", (1, 1), "expected a form after `#a`"),
        ("#:a 1", (1, 5), "expected a map after `#:a`"),
        ("[" * 300, (1, 202), "at most 200 nested forms"),
    ],
)
def test_rejects_malformed_edn(text: str, position: tuple[int, int], message: str) -> None:
    with pytest.raises(BadEdn) as caught:
        forms(text)
    assert (caught.value.line, caught.value.column) == position
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_rejects_invalid_utf_8() -> None:
    with pytest.raises(BadEdn, match="line 2, column 3: expected UTF-8, found byte 0xff"):
        forms(b"1\n2 \xff")


@given(st.lists(values, max_size=4), st.randoms(use_true_random=False))
def test_round_trips_values(originals: list[Any], rng: random.Random) -> None:
    text = "\n".join(f"[{to_edn(value, rng)}]" for value in originals)
    assert forms(text) == originals


@given(st.binary(max_size=200))
@example(b'"\\')
@example(b"#_ #_ ;\n#:{}")
def test_arbitrary_bytes_are_read_or_rejected(data: bytes) -> None:
    if error := error_of(data):
        assert 1 <= error.line <= data.count(b"\n") + 1
        assert error.column >= 1


@given(values, st.randoms(use_true_random=False), st.data())
def test_mutated_edn_is_read_or_rejected(
    value: Any, rng: random.Random, data: st.DataObject
) -> None:
    text = f"[{to_edn(value, rng)}]"
    at = data.draw(st.integers(0, len(text)))
    inserted = data.draw(
        st.sampled_from(['"', "[", "]", "{", "}", "#", "\\", ";", "", "\n", ":", "1"])
    )
    cut = data.draw(st.integers(0, 2))
    if error := error_of(text[:at] + inserted + text[at + cut :]):
        assert error.line >= 1
