"""Final state: requirements on the user's function, comparison and progress."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.user_pipeline.final_state import (
    FinalState,
    arrived,
    check_state,
    contributions,
    keys_of,
)
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.input_file import InputRecord
from onceproof.harness.user_pipeline.orders import Orders

RULES = """
def sums(inputs):
    found = {}
    for each in inputs:
        if each is not None:
            found[each["k"]] = found.get(each["k"], 0) + each["n"]
    return found

def latest(inputs):
    return {each["k"]: each["n"] for each in inputs}

def moved(inputs):
    found = {}
    for each in inputs:
        for key, sign in (("k", 1), ("other", -1)):
            found[each[key]] = found.get(each[key], 0) + sign * each["n"]
    return found

def all_together(inputs):
    return {"all": len(inputs)}

def shares(inputs):
    return {each["k"]: len(inputs) for each in inputs}

def pairs(inputs):
    return {"pair": 2, **sums(inputs)} if len(inputs) > 1 else sums(inputs)

def positive(inputs):
    return {each["k"]: True for each in inputs}

def no_dictionary(inputs):
    return len(inputs)

def bad_key(inputs):
    return {None: 1}

def no_content(inputs):
    return {each["k"]: None for each in inputs}

def opened(inputs):
    found = {}
    for each in inputs:
        if each["n"] > 50:
            found.pop(each["k"], None)
        else:
            found[each["k"]] = found.get(each["k"], 0) + each["n"]
    return found

def fails(inputs):
    return {each["missing"]: 1 for each in inputs}
"""


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rules") / "rules.py"
    file.write_text(RULES)
    return file


def state(rules: Path, name: str) -> FinalState:
    return FinalState(optional=True, function=f"{rules}:{name}")


def value(key: str, amount: int = 1, **more: object) -> str:
    return json.dumps({"k": key, "n": amount, **more})


def inputs(keys: Sequence[str], **more: object) -> list[InputRecord]:
    return [
        InputRecord(identity=f"i{n}", key=key, value=value(key, n + 1, **more))
        for n, key in enumerate(keys)
    ]


def check(
    final_state: FinalState, given_inputs: Sequence[InputRecord], partitions: int = 1
) -> None:
    check_state(final_state, given_inputs, partitions=partitions, producers=1)


def test_contents_are_compared_as_json(rules: Path) -> None:
    assert state(rules, "sums").of([value("a", 1), value("a", 2), value("b", 5), None]) == {
        "a": "3", "b": "5"
    }  # fmt: skip
    assert state(rules, "moved").keys(value("a", other="b")) == ("a", "b")
    assert state(rules, "sums").names(None) == ()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_dictionary", "returned '1'; expected a dictionary of state keys"),
        ("bad_key", "returned the content 1 for the key None; expected a non-empty string"),
        ("no_content", "returned the content None for the key 'a'; expected"),
        ("fails", "raised KeyError: 'missing' for a list of 1 inputs that starts with"),
    ],
)
def test_rejects_invalid_state(rules: Path, name: str, message: str) -> None:
    with pytest.raises(BadRule, match=message):
        state(rules, name).of([value("a")])


VALID_KEYS = [f"k{n // 3}" for n in range(60)] + ["last"]


def test_accepts_sums_and_last_values_by_new_keys(rules: Path) -> None:
    for name in ("sums", "latest"):
        check(state(rules, name), inputs(VALID_KEYS))
    check(state(rules, "moved"), inputs(VALID_KEYS, other="till"))
    null_values = [InputRecord(identity=f"x{n}", key="k", value=None) for n in range(30)]
    check(state(rules, "sums"), [*null_values, *inputs(VALID_KEYS), *null_values])
    with pytest.raises(BadRule, match="sums returned no key for any single input"):
        check(state(rules, "sums"), null_values)


@pytest.mark.parametrize(
    ("name", "keys", "message"),
    [
        ("all_together", VALID_KEYS, "records 1 to 61, counting .* to no new key"),
        ("sums", ["a"] * 30, "records 2 to 30, counting .* to no new key"),
        ("shares", VALID_KEYS, "the content of 'k0' depends on inputs that do not"),
        ("opened", VALID_KEYS, "the content of 'k16' depends on inputs that do not"),
        ("pairs", VALID_KEYS, "returned the key 'pair', but not for any single input"),
        (
            "positive",
            [f"k{n // 2}" for n in range(40)],
            "leaving out any one of records 1 to 40, .* does not change the final state",
        ),
        (
            "sums",
            [*VALID_KEYS, "k0"],
            "i61 is among the last records of its partition and has no state key",
        ),
    ],
)
def test_rejects_state_that_could_hide_a_loss(
    rules: Path, name: str, keys: Sequence[str], message: str
) -> None:
    with pytest.raises(BadRule, match=message):
        check(state(rules, name), inputs(keys))


def test_rejects_state_that_depends_on_order_across_partitions(rules: Path) -> None:
    partitions = [[value("a", 1)], [value("a", 2)]]
    assert state(rules, "sums").in_any_order(partitions) == {"a": "3"}
    assert state(rules, "latest").in_any_order([[*partitions[0], *partitions[1]]]) == {"a": "2"}
    with pytest.raises(BadRule, match="'a' depends on the order of inputs from different part"):
        state(rules, "latest").in_any_order(partitions)


KEYS = st.sampled_from("abcdef")
LOGS = st.lists(st.lists(st.tuples(KEYS, st.integers(-3, 9)), max_size=8), min_size=1, max_size=3)


@given(logs=LOGS, name=st.sampled_from(["sums", "latest"]))
def test_contributions_match_the_final_state(
    rules: Path, logs: list[list[tuple[str, int]]], name: str
) -> None:
    named = [
        [(f"{p}/{n}", value(f"{p}{key}", amount)) for n, (key, amount) in enumerate(log)]
        for p, log in enumerate(logs)
    ]
    expected: dict[str, tuple[str, int]] = {}
    for p, log in enumerate(logs):
        for n, (key, amount) in enumerate(log):
            before = expected.get(f"{p}{key}", ("", 0))[1] if name == "sums" else 0
            expected[f"{p}{key}"] = (f"{p}/{n}", before + amount)
    rows = list(contributions(state(rules, name), named, sink="out"))
    assert {row["state_key"]: (row["record"], int(row["digest"])) for row in rows} == expected
    assert len(rows) == len(expected)
    assert {(row["sink"], row["operation"], row["aggregate"]) for row in rows} <= {
        ("out", "last", "content")
    }


@given(keys=st.lists(KEYS, max_size=10), present=st.frozensets(KEYS))
def test_arrival_is_inferred_from_new_keys(keys: list[str], present: frozenset[str]) -> None:
    records = [f"r{n}" for n in range(len(keys))]
    found = list(arrived(records, present, dict(zip(records, keys, strict=True))))
    for index, (record, done) in enumerate(found):
        assert record == records[index]
        if keys[index] not in keys[:index]:
            assert done is (keys[index] in present)
        else:
            later = range(index, len(keys))
            assert done is any(keys[n] in present and keys[n] not in keys[:n] for n in later)


def test_keys_of_skips_state_keys_shared_by_message_keys(rules: Path) -> None:
    given_inputs = [
        InputRecord(identity="a", key="x", value=value("one")),
        InputRecord(identity="b", key="x", value=value("both")),
        InputRecord(identity="c", key="y", value=value("both")),
    ]
    assert keys_of(state(rules, "sums"), given_inputs) == {"a": ("one",), "b": (), "c": ()}


def test_generated_sentinels_have_new_customers(rules: Path) -> None:
    rules.with_name("orders.py").write_text(
        "def totals(orders):\n"
        "    found = {}\n"
        "    for o in orders:\n"
        "        found[o['customer']] = found.get(o['customer'], 0) + o['amount_cents']\n"
        "    return found\n"
        "def items(orders): return {o['item']: 1 for o in orders}\n"
    )
    function = f"{rules.with_name('orders.py')}:totals"
    orders = Orders(topic="t", records=300, states=(("out", function),), upserts=True, sentinels=60)
    orders.check_states()
    keys = orders.state_keys("out", seed=1)
    last = [keys[f"order-{n:06d}"] for n in range(240, 300)]
    earlier = {key for n in range(240) for key in keys[f"order-{n:06d}"]}
    assert len(set(last) - {(key,) for key in earlier}) == 60
    assert len(orders.required_sentinels(seed=1)) == 60
    by_item = Orders(
        topic="t",
        records=300,
        states=(("out", function.replace("totals", "items")),),
        upserts=True,
        sentinels=60,
    )
    with pytest.raises(BadRule, match="contribute to no new key"):
        by_item.check_states()
