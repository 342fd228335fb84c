"""Rules that find identities in outputs, and placeholders."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.user_pipeline.identity import BadRule, Rule, Written
from onceproof.harness.user_pipeline.placeholders import fill, words

ORDER = {"id": "o-1", "n": 7, "meta": {"ids": ["a", "b"]}, "exact": 7.0, "part": 7.5, "yes": True}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("json:$.id", "o-1"),
        ("json:$.n", "7"),
        ("json:$.exact", "7"),
        ("json:$.part", None),
        ("json:$.yes", None),
        ("json:$.meta", None),
        ("json:$.meta.ids[1]", "b"),
        ("json:$.meta.ids[2]", None),
        ("json:$.meta.ids.x", None),
        ("json:$.id.x", None),
        ("json:$.other", None),
        ("key", "k"),
        ("header:order", "h"),
        ("header:other", None),
        (r'regex:"id": "(\w+-\d+)"', "o-1"),
        (r"regex:o-\d", "o-1"),
        ("regex:nothing", None),
    ],
)
def test_rule_finds_identity(rule: str, expected: str | None) -> None:
    written = Written(value=json.dumps(ORDER), key="k", headers={"order": "h"})
    assert Rule.parse(rule).find(written) == expected
    assert str(Rule.parse(rule)) == rule


@pytest.mark.parametrize("rule", ["json:$.id", "key", "header:order", "regex:y(.)"])
@pytest.mark.parametrize("value", [None, "", "{", "null", "[1", '"text"', "7"])
def test_finds_no_identity_in_unsuitable_value(rule: str, value: str | None) -> None:
    assert Rule.parse(rule).find(Written(value=value)) is None


def test_empty_text_is_no_identity() -> None:
    empty = Written(value='{"id": ""}', key="", headers={"id": ""})
    for rule in ("json:$.id", "key", "header:id", 'regex:"id": "(.*)"'):
        assert Rule.parse(rule).find(empty) is None


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("", "expected json"),
        ("id", "expected json"),
        ("json:id", "expected json"),
        ("json:$", "expected json"),
        ("json:$.a..b", "expected json"),
        ("json:$.a[x]", "expected json"),
        ("header:", "expected json"),
        ("key:x", "expected json"),
        ("regex:", "expected json"),
        ("regex:(", "invalid regular expression"),
        ("regex:(a)(b)", "expected at most one group, found 2"),
    ],
)
def test_rejects_invalid_rule(rule: str, message: str) -> None:
    with pytest.raises(BadRule, match=message):
        Rule.parse(rule)


def test_key_and_header_rules_do_not_apply_to_rows() -> None:
    row_rules = [r for r in ("json:$.a", "regex:a", "key", "header:a") if Rule.parse(r).of_rows]
    assert row_rules == ["json:$.a", "regex:a"]


@given(st.text())
def test_find_accepts_any_text(value: str) -> None:
    for rule in ("json:$.a[0].b", "regex:a(.*)b", "key"):
        Rule.parse(rule).find(Written(value=value))


def test_fill_replaces_placeholders_and_keeps_other_braces() -> None:
    values = {"bootstrap": "host:1", "work": "/w"}
    assert fill("--to={bootstrap} {work}/x", values) == "--to=host:1 /w/x"
    assert fill('{"a": {"b": 1}} {} {B} {1}', values) == '{"a": {"b": 1}} {} {B} {1}'
    assert words("{work}/x/{work} {bootstrap}") == {"work", "bootstrap"}
    with pytest.raises(
        BadRule, match=r"unknown placeholder \{bootstap\} .* expected \{bootstrap\}"
    ):
        fill("{bootstap}", values)


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ("json:$.ids[*]", {"ids": ["a", 7, "a"]}, ("a", "7", "a")),
        ("json:$.of[*].id", {"of": [{"id": "a"}, {"id": "b"}]}, ("a", "b")),
        ("json:$.window.ids[*]", {"window": {"ids": ["a"]}}, ("a",)),
        ("json:$.ids[*]", {"ids": ["a", None]}, ("a", None)),
        ("json:$.ids[*]", {"ids": []}, (None,)),
        ("json:$.ids[*]", {"ids": "abc"}, (None,)),
        ("json:$.ids[*]", {"id": "a"}, (None,)),
        ("json:$.of[*].id", {"of": [{"id": "a"}, {}]}, (None,)),
        ("json:$.id", {"id": "a"}, ("a",)),
        ("json:$.id", {}, (None,)),
    ],
)
def test_rule_finds_several_identities_in_a_row(
    rule: str, value: object, expected: tuple[str, ...]
) -> None:
    assert Rule.parse_several(rule).find_each(Written(value=json.dumps(value))) == expected
    assert str(Rule.parse_several(rule)) == rule


@pytest.mark.parametrize("rule", ["json:$.ids[*][*]", "json:ids[*]", "header:a[*]", "regex:(a)[*]"])
def test_rejects_invalid_list_rule(rule: str) -> None:
    with pytest.raises(BadRule):
        Rule.parse_several(rule)
