"""What is sent to a pipeline of somebody's own, and what each record must come to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.harness.history.identity import digest
from onceproof.harness.user_pipeline.event_time import EventTime, round_event_time
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.input_file import count
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.workload.partitions import partition_of_key
from tests.unit.fakes.run_context import FakeSubject

OUT = FakeSubject(sinks=("out",))


def sent(orders: Orders, seed: int = 1) -> list[tuple[str, str, str]]:
    return [
        (r.record, r.key, r.value)
        for n in range(orders.producers)
        for r in orders.sends(producer=n, seed=seed)
    ]


def test_orders_are_made_up_from_the_seed() -> None:
    orders = Orders(topic="orders", records=501)
    first = sent(orders)
    assert len(first) == len({record for record, *_ in first}) == 501
    assert sent(orders) == first
    assert sorted(sent(orders, seed=2)) != sorted(first)
    for record, key, value in first:
        order = json.loads(value)
        assert (order["order_id"], order["customer"]) == (record, key)
    (one, *_) = orders.sends(producer=1, seed=1)
    assert one.digest == digest(one.key.encode(), one.value.encode())
    assert one.topic == "orders"


@pytest.mark.parametrize("producers", [1, 2, 3])
def test_the_last_of_each_producer_are_the_sentinels(producers: int) -> None:
    orders = Orders(topic="orders", records=100, producers=producers, sentinels=12)
    each = [[r.record for r in orders.sends(producer=n, seed=1)] for n in range(producers)]
    last = {record for records in each for record in records[-12 // producers :]}
    assert orders.required_sentinels(seed=1) == last
    assert len(last) == 12


def test_without_sentinels_nothing_is_asked_last() -> None:
    assert Orders(topic="orders", records=100).required_sentinels(seed=1) == frozenset()
    few = Orders(topic="orders", records=100, producers=4, sentinels=3)
    assert few.required_sentinels(seed=1) == frozenset(), "a producer has none or all of its share"


def test_a_sentinel_must_have_an_effect(tmp_path: Path) -> None:
    rules = tmp_path / "rules.py"
    rules.write_text("def effects(order): return order['quantity'] % 3\n")
    orders = Orders(topic="orders", records=100, sentinels=20, effects=f"{rules}:effects")
    due = {record for record, _, value in sent(orders) if json.loads(value)["quantity"] % 3}
    assert orders.required(seed=1) == due
    last = {f"order-{n:06d}" for n in range(80, 100)}
    assert orders.required_sentinels(seed=1) == due & last
    assert 0 < len(due & last) < 20
    loose = replace(orders, effects="0..1")
    assert loose.required(seed=1) == loose.required_sentinels(seed=1) == frozenset()


def test_what_each_must_come_to(tmp_path: Path) -> None:
    rules = tmp_path / "rules.py"
    rules.write_text("def effects(order): return order['quantity'] % 3\n")
    plain, optional, several = (
        list(Orders(topic="t", records=40, effects=effects).expected(OUT, producer=0, seed=1))
        for effects in ("1", "0..1", f"{rules}:effects")
    )
    assert len(plain) == len(optional) == 20
    assert {row["optional"] for row in plain} == {False}
    assert {row["optional"] for row in optional} == {True}
    quantity = {
        record: json.loads(value)["quantity"]
        for record, _, value in sent(Orders(topic="t", records=40))
    }
    due = [row["record"] for row in several]
    assert {row["optional"] for row in several} == {False}
    for row in plain:
        assert due.count(row["record"]) == quantity[row["record"]] % 3


def test_what_each_leaves_for_its_key() -> None:
    plain, orders = (Orders(topic="t", records=40, upserts=each) for each in (False, True))
    made = {"producer": 1, "seed": 1}
    assert list(plain.contributed(OUT, **made)) == list(orders.expected(OUT, **made)) == []
    sends = {r.record: r.key for r in orders.sends(producer=1, seed=1)}
    rows = list(orders.contributed(OUT, **made))
    assert {row["record"]: row["state_key"] for row in rows} == sends
    assert all(row["digest"] == row["record"] and row["operation"] == "last" for row in rows)
    assert {row["sink"] for row in rows} == {"out"}


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_records_of_a_file(tmp_path: Path, ending: str) -> None:
    rows = [{"id": f"r{n}", "who": f"w{n % 3}", "text": 'ü, "x"'} for n in range(7)]
    file = tmp_path / f"records{ending}"
    if ending == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), file)
    elif ending == ".csv":
        quoted = ('"{id}","{who}","ü, ""x"""'.format(**row) for row in rows)
        file.write_text("id,who,text\n" + "\n".join(quoted) + "\n", encoding="utf-8")
    else:
        file.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    orders = Orders(topic="t", records=5, file=str(file), identity="json:$.id", key="json:$.who")
    found = {record: (key, json.loads(value)) for record, key, value in sent(orders)}
    assert found == {row["id"]: (row["who"], row) for row in rows[:5]}
    assert count(file) == 7


def test_a_line_of_json_is_sent_as_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('{ "id":1,  "x" : 1.50 }\r\n')
    assert sent(Orders(topic="t", records=9, file=str(file), identity="json:$.id")) == [
        ("1", "1", '{ "id":1,  "x" : 1.50 }')
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{"id": 1}\n{"x": 1, "y": 2}\n',
            r"records.jsonl line 2: json:\$.id finds no identity: found no such field, only "
            r"x, y; the record is '\{\"x\"",
        ),
        (
            '{"id": 1}\n{"id": 1.5}\n',
            r"line 2: .* expected a non-empty string or an integer, found 1",
        ),
        ('{"id": 1}\n{"id": null}\n', r"line 2: .* or an integer, found null"),
        ('{"id": ""}\n', r"line 1: .* expected a non-empty string or an integer, found \"\""),
        ('{"id": {"a": 1}}\n', r"line 1: .* found {\"a\": 1}"),
        ("7\n", r"line 1: .* expected a JSON object with this field, found int"),
        (
            '{"id": 1}\n\n{"id": "1"}\n',
            r"line 3 has the same identity as records.jsonl line 1: '1'",
        ),
        ('{"id": 1}\nno\n', r"records.jsonl line 2: expected JSON, one value per line, found 'no"),
        (
            '[\n{"id": 1}\n]\n',
            r"records.jsonl line 1: expected JSON, one value per line, found '\[",
        ),
    ],
)
def test_a_file_that_cannot_be_sent(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(text)
    with pytest.raises(BadRule, match=says):
        sent(Orders(topic="t", records=9, file=str(file), identity="json:$.id"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id;x\n1;2\n", r"records.csv line 2: .* found no such field, only id;x"),
        ('id,x\n1,"a\nb"\n,2\n', r"records.csv line 4: .* found \"\""),
        (
            "id,x\n1,2\n3\n",
            r"records.csv line 3: expected one field per column \(id, x\), found '3'",
        ),
        ("id,x\n1,2,3\n", r"line 2: expected one field per column \(id, x\), found '1', '2', '3'"),
        ('id,x\n1,"2\n3,4\n', r"records.csv line 2: expected CSV with quotes"),
        ('id,x\n1,"2"3\n', r"records.csv line 2: expected CSV with quotes"),
        ("id,x,id\n1,2,3\n", r"records.csv line 1: duplicate column name 'id'"),
        ("id,\n1,2\n", r"records.csv line 1: invalid column name ''; expected a different"),
        ("id,x\n1,2\n1,3\n", r"line 3 has the same identity as records.csv line 2: '1'"),
    ],
)
def test_a_table_of_text_that_cannot_be_sent(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "records.csv"
    file.write_text(text)
    with pytest.raises(BadRule, match=says):
        sent(Orders(topic="t", records=9, file=str(file), identity="json:$.id"))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
def test_text_is_utf_8_with_a_byte_order_mark_or_without(tmp_path: Path, mark: bytes) -> None:
    for name, text in (("a.csv", "id,x\n1,ü\n"), ("a.jsonl", '{"id": 1, "x": "ü"}\n')):
        file = tmp_path / name
        file.write_bytes(mark + text.encode())
        ((record, _, value),) = sent(
            Orders(topic="t", records=9, file=str(file), identity="json:$.id")
        )
        assert (record, json.loads(value)["x"]) == ("1", "ü")
        file.write_bytes(text.encode("latin-1"))
        with pytest.raises(BadRule, match=r"expected text in UTF-8, found .* byte 0xfc"):
            count(file)


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pa.array([b"1"]), "column id has the type binary, which JSON cannot"),
        (pa.array([[b"1"]]), "column id has the type list<"),
        (pa.array([1.5]), r"row 1: .* expected a non-empty string or an integer, found 1.5"),
        (pa.array([True]), r"row 1: .* found true"),
        (pa.array([None], pa.string()), r"row 1: .* found null"),
        (pa.array([[1]]), r"row 1: .* found \[1\]"),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_a_column_of_another_type(tmp_path: Path, column: pa.Array, says: str) -> None:
    file = tmp_path / "records.parquet"
    pq.write_table(pa.table({"id": column}), file)
    with pytest.raises(BadRule, match=says):
        sent(Orders(topic="t", records=9, file=str(file), identity="json:$.id"))


def test_whole_numbers_of_any_type_are_identities(tmp_path: Path) -> None:
    file = tmp_path / "records.parquet"
    pq.write_table(pa.table({"id": pa.array([7], pa.int8()), "k": pa.array([2.0])}), file)
    orders = Orders(topic="t", records=9, file=str(file), identity="json:$.id", key="json:$.k")
    assert sent(orders) == [("7", "2", '{"id": 7, "k": 2.0}')]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"identity": "key"},
            "identity key: records of a file have neither .* --data-identity",
        ),
        ({"identity": "header:id"}, "records of a file have neither key nor headers"),
        ({"key": "key"}, "key key: records of a file have neither .* --data-key"),
        ({"key": "json:$.who"}, r"line 1: json:\$.who finds no key: found no such field"),
        (
            {"key": "regex:who=(.*)"},
            r"line 1: regex:who=\(\.\*\) finds no key: the pattern matches nothing",
        ),
    ],
)
def test_rules_that_find_nothing_in_a_file(
    tmp_path: Path, change: dict[str, str], says: str
) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('{"id": 1}\n')
    orders = Orders(topic="t", records=9, file=str(file), identity="json:$.id")
    with pytest.raises(BadRule, match=says):
        sent(replace(orders, **change))  # type: ignore[arg-type]


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadRule, match=r"expected a file name that ends in \.jsonl"):
        count(tmp_path / "records.txt")
    with pytest.raises(BadRule, match="No such file"):
        count(tmp_path / "records.csv")
    (tmp_path / "records.parquet").write_text("no")
    with pytest.raises(BadRule, match="cannot be read"):
        count(tmp_path / "records.parquet")
    (tmp_path / "records.csv").write_text("id,x\n")
    with pytest.raises(BadRule, match=r"records\.csv has no records"):
        count(tmp_path / "records.csv")


TIMES = EventTime.parse("json:$.at", "ms", "10s")
TIMED = Orders(topic="orders", records=600, sentinels=60, times=TIMES)


def event_times(orders: Orders) -> dict[str, int]:
    return {record: TIMES.read(value) for record, _, value in sent(orders)}


def test_orders_get_event_times_and_the_last_ones_come_in_rounds_far_apart() -> None:
    found = event_times(TIMED)
    plain = [found[f"order-{n:06d}"] for n in range(540)]
    rounds = [{found[f"order-{n:06d}"] for n in range(at, at + 20)} for at in (540, 560, 580)]
    assert rounds == [{round_event_time(TIMES, plain, number)} for number in range(3)]
    assert [json.loads(v)["at"] for _, _, v in sent(Orders(topic="t", records=1, times=TIMES))]
    assert "at" not in json.loads(sent(Orders(topic="t", records=1))[0][2])
    assert (TIMED.rounds, Orders(topic="t", records=1).rounds) == (3, 1)


@pytest.mark.parametrize("partitions", [3, 4, 7])
def test_each_round_goes_to_every_partition(partitions: int) -> None:
    orders = replace(TIMED, partitions=partitions)
    keys = {record: key for record, key, _ in sent(orders)}
    for at in (540, 560, 580):
        of = {partition_of_key(keys[f"order-{n:06d}"], partitions) for n in range(at, at + 20)}
        assert of == set(range(partitions))


def test_only_the_first_round_is_asked_for() -> None:
    assert TIMED.required_sentinels(seed=1) == {f"order-{n:06d}" for n in range(540, 560)}
    rows = [row for n in (0, 1) for row in TIMED.expected(OUT, producer=n, seed=1)]
    optional = {row["record"] for row in rows if row["optional"]}
    assert optional == {f"order-{n:06d}" for n in range(560, 600)}
    assert len(rows) == 600
    none = replace(TIMED, sentinels=0)
    assert not [row for row in none.expected(OUT, producer=0, seed=1) if row["optional"]]


def test_what_is_late_is_not_waited_for() -> None:
    late = {f"order-{n:06d}" for n in range(25, 540, 50)}
    every = {f"order-{n:06d}" for n in range(600)}
    last = {f"order-{n:06d}" for n in range(560, 600)}
    assert TIMED.required(seed=1) == every - late - last
    disordered, too_late = TIMED.disorder(seed=1)
    assert too_late == len(late)
    assert 400 < disordered < 540
    assert Orders(topic="t", records=9).disorder(seed=1) == (0, 0)


def test_records_of_a_file_keep_their_event_times_but_for_the_last(tmp_path: Path) -> None:
    file = tmp_path / "orders.jsonl"
    file.write_text(
        "".join(f'{{"order_id": "{n}", "at": {100_000_000_000 + n}}}\n' for n in range(30))
    )
    orders = replace(TIMED, file=str(file), records=30, sentinels=6)
    found = event_times(orders)
    assert [found[str(n)] for n in range(24)] == [(100_000_000_000 + n) * 1000 for n in range(24)]
    assert [found[str(n)] for n in range(24, 30)] == [
        round_event_time(TIMES, [found["23"]], number) for number in (0, 0, 1, 1, 2, 2)
    ]
    file.write_text('{"order_id": "1"}\n')
    with pytest.raises(BadRule, match=r"no event time at \$.at"):
        sent(replace(orders, records=1, sentinels=0))
