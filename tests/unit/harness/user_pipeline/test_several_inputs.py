"""Records sent to a pipeline with several input topics, and the inputs its outputs name."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.user_pipeline.identity import Rule, Written
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.origins import Origin, Rules, origins
from onceproof.harness.user_pipeline.several_inputs import SeveralInputs
from onceproof.harness.workload.partitions import partition_of_key
from onceproof.harness.workload.task_file import SenderRecord

JOIN = SeveralInputs(
    inputs=(
        Orders(topic="orders", records=100, sentinels=10, match="orders"),
        Orders(topic="payments", records=100, sentinels=10, match="payments"),
    )
)
RULES = Rules(
    by_topic=(
        ("orders", Rule.parse("json:$.order_id")),
        ("payments", Rule.parse("json:$.payment_id")),
    )
)


def sent(workload: SeveralInputs, producer: int, seed: int = 1) -> list[SenderRecord]:
    return list(workload.sends(producer=producer, seed=seed))


def test_workload_is_json_serializable() -> None:
    assert json.loads(json.dumps(asdict(JOIN)))["inputs"][1]["match"] == "payments"


def test_each_order_has_a_payment_with_its_key() -> None:
    records = [record for n in range(2) for record in sent(JOIN, n)]
    keys = {topic: [r.key for r in records if r.topic == topic] for topic in JOIN.topics}
    assert sorted(keys["orders"]) == sorted(keys["payments"])
    assert len(set(keys["orders"])) == 100
    for record in records:
        content = json.loads(record.value or "")
        assert content["order_id"] == record.key
        name = "payment_id" if record.topic == "payments" else "order_id"
        assert record.record == f"{record.topic}/{content[name]}"
    assert {partition_of_key(key, 3) for key in keys["orders"]} == {0, 1, 2}


def test_payments_precede_and_follow_their_orders() -> None:
    records = sent(JOIN, 0) + sent(JOIN, 1)
    places = {(r.topic, r.key): n for n, r in enumerate(records)}
    first = [places["payments", r.key] < n for n, r in enumerate(records) if r.topic == "orders"]
    assert 20 < sum(first) < 80


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 2, 3]), st.data())
def test_sentinels_of_all_topics_are_the_last_records_of_each_producer(
    orders: int, payments: int, producers: int, data: st.DataObject
) -> None:
    sentinel_counts = [
        data.draw(st.integers(0, count // producers)) * producers for count in (orders, payments)
    ]
    workload = SeveralInputs(
        inputs=tuple(
            Orders(topic=topic, records=count, sentinels=last, producers=producers)
            for topic, count, last in zip("ab", (orders, payments), sentinel_counts, strict=True)
        )
    )
    names: list[str] = []
    last_names = set()
    for n in range(producers):
        records = [record.record for record in sent(workload, n)]
        names += records
        last_names |= set(records[len(records) - workload.sentinels // producers :])
    assert len(names) == len(set(names)) == orders + payments == workload.records
    assert last_names == workload.required_sentinels(seed=1)
    assert set(names) == workload.required(seed=1)
    assert [sum(name.startswith(topic) for name in last_names) for topic in "ab"] == sentinel_counts


def test_files_are_sent_whole_and_interleaved(tmp_path: Path) -> None:
    for name, count in (("a", 8), ("b", 2)):
        lines = [json.dumps({"id": n}) for n in range(count)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    workload = SeveralInputs(
        inputs=tuple(
            Orders(
                topic=name,
                records=count,
                file=str(tmp_path / f"{name}.jsonl"),
                identity="json:$.id",
                producers=1,
            )
            for name, count in (("a", 8), ("b", 2))
        )
    )
    assert workload.of_size(4) == workload
    assert "".join(r.topic for r in sent(workload, 0)) == "aabaaaabaa"
    assert {"a/0", "b/0"} <= workload.required(seed=1), "the same identity in two topics"


def test_expected_effects_cover_the_inputs_of_all_topics() -> None:
    class Subject:
        sinks = ("joined",)

    rows = [row for n in range(2) for row in JOIN.expected(Subject(), producer=n, seed=1)]  # type: ignore[arg-type]
    assert {row["record"] for row in rows} == JOIN.required(seed=1)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"order_id": "7", "payment_id": 7}, [("orders", "orders/7"), ("payments", "payments/7")]),
        ({"order_id": "7"}, [("orders", "orders/7")]),
        ({"payment_id": "p", "order_id": ""}, [("payments", "payments/p")]),
        ({"id": 7}, [(None, None)]),
    ],
)
def test_origins_of_an_output_by_topic(
    content: dict[str, object], expected: list[tuple[str | None, str | None]]
) -> None:
    found = origins(RULES, Written(value=json.dumps(content)))
    assert [(each.topic, each.record) for each in found] == expected


def test_origins_have_no_topic_with_a_single_rule() -> None:
    rule = Rule.parse_several("json:$.ids[*]")
    written = Written(value='{"ids": ["a", "b"]}')
    assert list(origins(rule, written)) == [
        Origin(topic=None, record="a", place="[0]"),
        Origin(topic=None, record="b", place="[1]"),
    ]
    assert list(origins(rule, Written(value="{}"))) == [Origin(topic=None, record=None)]
