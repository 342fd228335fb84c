"""Number of effects of an input, and the keys of several."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.sinks.base import Effect
from onceproof.harness.user_pipeline.effects import NOT_JUDGED, ExpectedEffects
from onceproof.harness.user_pipeline.identity import BadRule


def effect(record: str | None, key: str, *, sink: str = "out") -> Effect:
    return Effect(
        sink=sink,
        view="table",
        record=record,
        effect_key=key,
        digest=NOT_JUDGED,
        position=f"{record}/{key}",
        ordinal=0,
    )


@pytest.mark.parametrize(
    ("text", "most", "optional", "names"),
    [
        ("1", 1, False, ("",)),
        ("0..1", 1, True, ("",)),
        ("3", 3, False, ("1", "2", "3")),
        ("0..2", 2, True, ("1", "2")),
    ],
)
def test_parses_number_or_range_of_effects(
    text: str, most: int, optional: bool, names: tuple[str, ...]
) -> None:
    found = ExpectedEffects.parse(text)
    assert (found.most, found.optional, found.names("{}")) == (most, optional, names)
    assert str(found) == text


@pytest.mark.parametrize("text", ["", "0", "-1", "1..2", "0..0", "x", "1.5", "rules:effects"])
def test_rejects_invalid_number_of_effects(text: str) -> None:
    with pytest.raises(BadRule, match=r"expected a number such as 1 or 3, a range such as 0\.\.1"):
        ExpectedEffects.parse(text)


def test_function_returns_count_or_effect_keys(tmp_path: Path) -> None:
    rules = tmp_path / "rules.py"
    rules.write_text(
        "def many(order): return order['n']\n"
        "def names(order): return [f'line {n}' for n in range(order['n'])]\n"
        "def text(value): return len(value)\n"
        "def odd(order): return 'two'\n"
        "value = 3\n"
    )
    assert ExpectedEffects.parse(f"{rules}:many").names('{"n": 2}') == ("1", "2")
    assert ExpectedEffects.parse(f"{rules}:many").names('{"n": 0}') == ()
    named = ExpectedEffects.parse(f"{rules}:names", key="json:$.line")
    assert named.names('{"n": 2}') == ("line 0", "line 1")
    assert named.named([effect("a", "line 1"), effect("a", "line 1")])[1].effect_key == "line 1"
    assert ExpectedEffects.parse(f"{rules}:text").names("no json") == tuple("1234567")
    numbered = ExpectedEffects.parse(f"{rules}:many", key="json:$.line")
    assert numbered.names('{"n": 0}') == ()
    with pytest.raises(BadRule, match=r"returned 2, .* expected a list of the effect keys"):
        numbered.names('{"n": 2}')
    for function, value, message in (
        ("names", '{"n": 2}', "a list of effect keys; expected --effect-key"),
        ("odd", "{}", "returned 'two'; expected a count"),
        ("many", "{}", "raised KeyError: 'n' for '{}'"),
    ):
        with pytest.raises(BadRule, match=message):
            ExpectedEffects.parse(f"{rules}:{function}").names(value)
    for text, message in (
        (f"{rules}:nothing", "has no function nothing"),
        (f"{rules}:value", "has no function value"),
        (f"{tmp_path}/none.py:x", "there is no file"),
    ):
        with pytest.raises(BadRule, match=message):
            ExpectedEffects.parse(text)
    broken = tmp_path / "broken.py"
    broken.write_text("1 +")
    with pytest.raises(BadRule, match=r"broken\.py: SyntaxError"):
        ExpectedEffects.parse(f"{broken}:x")


def test_single_effect_has_an_empty_key() -> None:
    assert {
        e.effect_key for e in ExpectedEffects.parse("1").named([effect("a", "x"), effect("a", "y")])
    } == {""}


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from("wxyz"), st.booleans()),
        max_size=20,
    )
)
def test_only_equal_contents_share_an_effect_key(
    seen: list[tuple[str | None, str, bool]],
) -> None:
    effects = [effect(r, k, sink="one" if first else "two") for r, k, first in seen]
    named = ExpectedEffects.parse("4").named(effects)
    assert [e.position for e in named] == [e.position for e in effects]
    names: dict[tuple[str, str | None], Counter[str]] = {}
    for before, after in zip(effects, named, strict=True):
        names.setdefault((before.sink, before.record), Counter())[after.effect_key] += 1
    for (sink, record), counted in names.items():
        contents = Counter(e.effect_key for e in effects if (e.sink, e.record) == (sink, record))
        assert set(counted) == {str(n) for n in range(1, len(contents) + 1)}
        assert sorted(counted.values()) == sorted(contents.values())


def test_duplicate_does_not_replace_a_missing_effect() -> None:
    yields = ExpectedEffects.parse("3")
    named = yields.named([effect("a", "x"), effect("a", "x"), effect("a", "z")])
    assert Counter(e.effect_key for e in named) == {"1": 2, "2": 1}
    assert set(yields.names("")) - {e.effect_key for e in named} == {"3"}
