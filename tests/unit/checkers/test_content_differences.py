"""Differences between contents, field by field."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onceproof.checkers.content_differences import differences

CONTENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
)


@pytest.mark.parametrize(
    ("expected", "found", "text"),
    [
        ({"a": 1}, {"a": 2}, "a: expected 1, found 2"),
        ({"a": 1, "b": {"c": "x"}}, {"a": 1, "b": {"c": "y"}}, 'b.c: expected "x", found "y"'),
        ({"a": 1}, {"b": 1}, "a: expected 1, found no such field; "
         "b: expected no such field, found 1"),
        ({"a": 1}, {"a": "1"}, 'a: expected 1, found "1"'),
        ({"a": 1}, {"a": True}, "a: expected 1, found true"),
        ({"a": None}, {}, "a: expected null, found no such field"),
        ([1, 2], [2, 1], "expected [1, 2], found [2, 1]"),
        ([False], [0], "expected [false], found [0]"),
        ({"a": 1}, {"a": 1}, ""),
    ],
)  # fmt: skip
def test_names_differing_fields(expected: object, found: object, text: str) -> None:
    assert differences(json.dumps(expected), json.dumps(found)) == text


def test_digests_and_null_have_no_differences() -> None:
    assert differences("d1", "d2") == ""
    assert differences("1234567890123456", "6543210987654321") == ""
    assert differences(None, '{"a": 1}') == ""


def test_truncates_long_differences() -> None:
    many = {f"field{n}": n for n in range(8)}
    text = differences(json.dumps(many), json.dumps(dict.fromkeys(many, -1)))
    assert text.count("expected") == 5
    assert text.endswith("; and 3 more fields")
    assert len(differences(json.dumps({"a": "x" * 500}), '{"a": ""}')) < 120


@given(CONTENTS, CONTENTS)
@example([False], [0])
def test_reports_a_difference_exactly_if_containers_differ(one: object, other: object) -> None:
    texts = [json.dumps(content, sort_keys=True) for content in (one, other)]
    both = all(isinstance(content, dict | list) for content in (one, other))
    assert bool(differences(*texts)) is (both and texts[0] != texts[1])
