"""Upserts: the input that left the value of each key, in logs and tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from onceproof.harness.user_pipeline.dead_letters import DeadLetters
from onceproof.harness.user_pipeline.identity import BadRule, Rule, Written
from onceproof.harness.user_pipeline.outputs.base import FoundEffect
from onceproof.harness.user_pipeline.upserts import STRETCH, Upserts, check_spread, passed
from tests.unit.fakes.run_context import FakeSink, effect


class FakeOutput:
    """An output that yields records in the given order."""

    def __init__(self, *found: FoundEffect) -> None:
        self._found = found

    def size(self) -> int:
        return len(self._found)

    def found(self) -> Iterator[FoundEffect]:
        return iter(self._found)

    def hanging(self) -> bool:
        return False


def log_output(*records: tuple[int, str, int | None]) -> FakeOutput:
    return FakeOutput(
        *(
            FoundEffect(
                written=Written(value=None if id_ is None else json.dumps({"id": id_}), key=key),
                position=f"t-{partition}@{offset}",
                log=f"t-{partition}",
            )
            for offset, (partition, key, id_) in enumerate(records)
        )
    )


def table_output(*rows: tuple[str, int]) -> FakeOutput:
    return FakeOutput(
        *(
            FoundEffect(
                written=Written(value=json.dumps({"id": id_, "k": key})), position=f"row {n}"
            )
            for n, (key, id_) in enumerate(rows)
        )
    )


def values(output: FakeOutput, key: str) -> dict[str, str | None]:
    rules = {"identity": Rule.parse("json:$.id"), "key": Rule.parse(key)}
    sink = Upserts(output, name="out", view="table", not_judged="x", **rules)
    states = sink.states()
    assert len({s.state_key for s in states}) == len(states)
    assert {(s.sink, s.view, s.aggregate) for s in states} <= {("out", "table", "latest input")}
    return {state.state_key: state.digest for state in states}


def test_later_record_replaces_the_value_of_its_key() -> None:
    log = log_output((0, "a", 1), (0, "b", 2), (0, "a", 3), (1, "c", 4))
    assert values(log, "key") == {"a": "3", "b": "2", "c": "4"}


def test_tombstone_deletes_its_key_until_the_next_write() -> None:
    assert values(log_output((0, "a", 1), (0, "a", None)), "key") == {}
    assert values(log_output((0, "a", 1), (0, "a", None), (0, "a", 2)), "key") == {"a": "2"}


def test_key_in_two_partitions_or_rows_has_no_single_value() -> None:
    assert values(log_output((0, "a", 1), (1, "a", 2)), "key") == {"a": "in 2 rows: 1, 2"}
    assert values(table_output(("a", 2), ("a", 1)), "json:$.k") == {"a": "in 2 rows: 1, 2"}
    assert values(table_output(("a", 1), ("a", 1)), "json:$.k") == {"a": "in 2 rows: 1, 1"}


def test_record_without_key_names_no_input() -> None:
    output = FakeOutput(FoundEffect(written=Written(value='{"id": 1}'), position="row 1"))
    sink = Upserts(
        output,
        name="out",
        view="table",
        identity=Rule.parse("json:$.id"),
        key=Rule.parse("json:$.k"),
        not_judged="x",
    )
    assert [effect.record for effect in sink.effects()] == [None]
    assert sink.states() == []


def test_overwritten_input_has_passed() -> None:
    inputs = [("1", "a"), ("2", "b"), ("3", "a"), ("4", "a"), ("5", "b")]
    assert dict(passed(inputs, {"3"})) == {
        "1": True, "2": False, "3": True, "4": False, "5": False
    }  # fmt: skip
    assert all(done for _, done in passed(inputs, {"4", "5", None}))
    assert not any(done for _, done in passed(inputs, set()))


def test_check_spread_rejects_long_runs_of_overwritten_inputs() -> None:
    check_spread([(str(n), str(n)) for n in range(100)])
    check_spread([(str(n), str(n % STRETCH)) for n in range(STRETCH)])
    check_spread([])
    with pytest.raises(BadRule, match=f"records 1 to {STRETCH} are all followed by a later record"):
        check_spread([(str(n), "a") for n in range(STRETCH + 1)])
    late = [(str(n), str(n) if n < 50 else "z") for n in range(50 + STRETCH + 1)]
    with pytest.raises(BadRule, match=f"records 51 to {50 + STRETCH} are all"):
        check_spread(late)


def test_dead_letters_appear_once_in_each_view() -> None:
    sink = FakeSink(name="dead", there=[replace(effect("a"), sink="dead")])
    letters = DeadLetters(sink, ["table", "listing", "table"])
    assert [(e.sink, e.view, e.record) for e in letters.effects()] == [
        ("dead", "table", "a"),
        ("dead", "listing", "a"),
    ]
