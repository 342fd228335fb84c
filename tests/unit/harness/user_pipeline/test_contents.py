"""Expected contents from the user's function, compared with those of an output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.sinks.base import Effect
from onceproof.harness.user_pipeline.contents import Contents, functions
from onceproof.harness.user_pipeline.identity import BadRule, Written

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)
RULES = """
def one(order): return {"id": order["id"], "total": order["n"] * 2.0, "at": "expected"}
def many(order): return [{"part": n, "id": order["id"]} for n in range(order["n"])]
def none(order): return None
def null(order): return [None]
def twice(order): return [{"part": 1}, {"part": 1}]
def text(order): return "a line"
def fails(order): return order["no"]
"""


@pytest.fixture
def rules(tmp_path: Path) -> str:
    (tmp_path / "rules.py").write_text(RULES)
    return f"{tmp_path}/rules.py"


def contents(rules: str, name: str, key: str | None = None, *ignored: str) -> Contents:
    return Contents.of(f"{rules}:{name}", key=key, ignored=ignored)


def test_digest_ignores_field_order_and_number_type(
    rules: str,
) -> None:
    expectation = contents(rules, "one", None, "json:$.at")
    assert expectation.names('{"id": "a", "n": 3}') == ("",)
    (expected,) = expectation.contents('{"id": "a", "n": 3}').values()
    assert expected == expectation.digest(Written(value='{"total": 6, "at": "now", "id": "a"}'))
    assert expected != expectation.digest(Written(value='{"total": 7, "at": "now", "id": "a"}'))
    assert expected != expectation.digest(Written(value='{"total": 6, "id": "a", "more": 1}'))
    assert json.loads(expected) == {"id": "a", "total": 6}


def test_several_contents_need_distinct_effect_keys(rules: str) -> None:
    expectation = contents(rules, "many", "json:$.part")
    assert expectation.names('{"id": "a", "n": 2}') == ("0", "1")
    assert expectation.names('{"id": "a", "n": 0}') == ()
    with pytest.raises(BadRule, match="returned 2 contents; expected --effect-key"):
        contents(rules, "many").names('{"id": "a", "n": 2}')
    with pytest.raises(BadRule, match="two contents with the key '1'"):
        contents(rules, "twice", "json:$.part").names("{}")
    with pytest.raises(BadRule, match=r"a content without json:\$\.part"):
        contents(rules, "one", "json:$.part").names('{"id": "a", "n": 2}')
    with pytest.raises(BadRule, match=r"--effect-key key: expected json"):
        contents(rules, "many", "key")


def test_no_effect_differs_from_a_null_effect(rules: str) -> None:
    assert contents(rules, "none").contents("{}") == {}
    null = contents(rules, "null")
    assert null.contents("{}") == {"": null.digest(Written(value=None))}


def test_compares_non_json_text_verbatim(rules: str) -> None:
    expectation = contents(rules, "text")
    assert expectation.contents("{}") == {"": expectation.digest(Written(value="a line"))}
    assert expectation.contents("{}") != {"": expectation.digest(Written(value="a  line"))}


def test_failing_function_is_reported_with_its_input(rules: str) -> None:
    with pytest.raises(BadRule, match=r"rules.py:fails raised KeyError: 'no' for '\{\}'"):
        contents(rules, "fails").contents("{}")


def test_ignores_nested_fields_by_path(rules: str) -> None:
    expectation = contents(rules, "one", None, "json:$.meta.at", "json:$.no.such")
    assert expectation.digest(Written(value='{"meta": {"at": 1, "by": 2}}')) == '{"meta":{"by":2}}'
    assert expectation.digest(Written(value='{"meta": 1}')) == '{"meta":1}'
    assert expectation.digest(Written(value="[1]")) == "[1]"
    with pytest.raises(BadRule, match=r"invalid --ignore 'key': expected json:\$\.FIELD"):
        contents(rules, "one", None, "key")


def test_digests_of_long_contents_are_short_and_distinct(rules: str) -> None:
    expectation = contents(rules, "one")
    texts = [expectation.digest(Written(value="x" * 5_000 + end)) for end in "ab"]
    assert texts[0] != texts[1]
    assert max(map(len, texts)) < 4_100


@given(JSON)
def test_digest_is_independent_of_json_formatting(content: object) -> None:
    expectation = Contents(function="unused.py:f", optional=True)
    assert expectation.digest(Written(value=json.dumps(content, indent=2))) == expectation.digest(
        Written(value=json.dumps(content, ensure_ascii=False))
    )


def test_named_keeps_effect_keys_only_with_a_key_rule(rules: str) -> None:
    effect = Effect(
        sink="s", view="v", record="a", effect_key="found", digest="d", position="1", ordinal=0
    )
    assert contents(rules, "one").named([effect])[0].effect_key == ""
    assert contents(rules, "many", "json:$.part").named([effect]) == [effect]


def test_functions_assigns_one_to_each_output(rules: str) -> None:
    one, many = f"{rules}:one", f"{rules}:many"
    assert functions([one], ["a", "b"]) == (("a", one), ("b", one))
    assert dict(functions([f"b={many}", f"a={one}"], ["a", "b"])) == {"a": one, "b": many}
    assert functions([], ["a"]) == ()
    for expects, message in (
        ([f"a={one}"], "no --expect for output b"),
        ([one, f"a={many}"], "a already has one"),
        ([f"c={one}"], "with one of the outputs a, b"),
        (["rules"], "expected FILE.py:FUNCTION"),
        ([f"{rules}:nothing"], "has no function nothing"),
    ):
        with pytest.raises(BadRule, match=message):
            functions(expects, ["a", "b"])
