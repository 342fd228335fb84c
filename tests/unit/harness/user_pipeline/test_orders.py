"""Orders sent to your pipeline, and the effects expected of them."""

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


def test_generated_orders_depend_only_on_the_seed() -> None:
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
def test_sentinels_are_the_last_records_of_each_producer(producers: int) -> None:
    orders = Orders(topic="orders", records=100, producers=producers, sentinels=12)
    each = [[r.record for r in orders.sends(producer=n, seed=1)] for n in range(producers)]
    last = {record for records in each for record in records[-12 // producers :]}
    assert orders.required_sentinels(seed=1) == last
    assert len(last) == 12


def test_requires_no_sentinels_if_fewer_than_producers() -> None:
    assert Orders(topic="orders", records=100).required_sentinels(seed=1) == frozenset()
    few = Orders(topic="orders", records=100, producers=4, sentinels=3)
    assert few.required_sentinels(seed=1) == frozenset(), "a producer has none or all of its share"


def test_only_sentinels_with_effects_are_required(tmp_path: Path) -> None:
    rules = tmp_path / "rules.py"
    rules.write_text("def effects(order): return order['quantity'] % 3\n")
    orders = Orders(topic="orders", records=100, sentinels=20, effects=f"{rules}:effects")
    with_effects = {
        record for record, _, value in sent(orders) if json.loads(value)["quantity"] % 3
    }
    assert orders.required(seed=1) == with_effects
    last = {f"order-{n:06d}" for n in range(80, 100)}
    assert orders.required_sentinels(seed=1) == with_effects & last
    assert 0 < len(with_effects & last) < 20
    loose = replace(orders, effects="0..1")
    assert loose.required(seed=1) == loose.required_sentinels(seed=1) == frozenset()


def test_expects_the_given_number_of_effects(tmp_path: Path) -> None:
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
    expected = [row["record"] for row in several]
    assert {row["optional"] for row in several} == {False}
    for row in plain:
        assert expected.count(row["record"]) == quantity[row["record"]] % 3


def test_each_upsert_contributes_its_record_to_its_key() -> None:
    plain, orders = (Orders(topic="t", records=40, upserts=each) for each in (False, True))
    sender = {"producer": 1, "seed": 1}
    assert list(plain.contributed(OUT, **sender)) == list(orders.expected(OUT, **sender)) == []
    sends = {r.record: r.key for r in orders.sends(producer=1, seed=1)}
    rows = list(orders.contributed(OUT, **sender))
    assert {row["record"]: row["state_key"] for row in rows} == sends
    assert all(row["digest"] == row["record"] and row["operation"] == "last" for row in rows)
    assert {row["sink"] for row in rows} == {"out"}


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_reads_records_of_a_file(tmp_path: Path, suffix: str) -> None:
    rows = [{"id": f"r{n}", "who": f"w{n % 3}", "text": 'ü, "x"'} for n in range(7)]
    file = tmp_path / f"records{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), file)
    elif suffix == ".csv":
        quoted = ('"{id}","{who}","ü, ""x"""'.format(**row) for row in rows)
        file.write_text("id,who,text\n" + "\n".join(quoted) + "\n", encoding="utf-8")
    else:
        file.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    orders = Orders(topic="t", records=5, file=str(file), identity="json:$.id", key="json:$.who")
    found = {record: (key, json.loads(value)) for record, key, value in sent(orders)}
    assert found == {row["id"]: (row["who"], row) for row in rows[:5]}
    assert count(file) == 7


def test_sends_json_lines_verbatim(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('{ "id":1,  "x" : 1.50 }\r\n')
    assert sent(Orders(topic="t", records=9, file=str(file), identity="json:$.id")) == [
        ("1", "1", '{ "id":1,  "x" : 1.50 }')
    ]


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_rejects_invalid_json_lines(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(text)
    with pytest.raises(BadRule, match=message):
        sent(Orders(topic="t", records=9, file=str(file), identity="json:$.id"))


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_rejects_invalid_csv(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "records.csv"
    file.write_text(text)
    with pytest.raises(BadRule, match=message):
        sent(Orders(topic="t", records=9, file=str(file), identity="json:$.id"))


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
def test_reads_utf_8_with_or_without_byte_order_mark(tmp_path: Path, bom: bytes) -> None:
    for name, text in (("a.csv", "id,x\n1,ü\n"), ("a.jsonl", '{"id": 1, "x": "ü"}\n')):
        file = tmp_path / name
        file.write_bytes(bom + text.encode())
        ((record, _, value),) = sent(
            Orders(topic="t", records=9, file=str(file), identity="json:$.id")
        )
        assert (record, json.loads(value)["x"]) == ("1", "ü")
        file.write_bytes(text.encode("latin-1"))
        with pytest.raises(BadRule, match=r"expected text in UTF-8, found .* byte 0xfc"):
            count(file)


@pytest.mark.parametrize(
    ("column", "message"),
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
def test_rejects_invalid_parquet_identities(tmp_path: Path, column: pa.Array, message: str) -> None:
    file = tmp_path / "records.parquet"
    pq.write_table(pa.table({"id": column}), file)
    with pytest.raises(BadRule, match=message):
        sent(Orders(topic="t", records=9, file=str(file), identity="json:$.id"))


def test_integral_numbers_of_any_type_are_identities(tmp_path: Path) -> None:
    file = tmp_path / "records.parquet"
    pq.write_table(pa.table({"id": pa.array([7], pa.int8()), "k": pa.array([2.0])}), file)
    orders = Orders(topic="t", records=9, file=str(file), identity="json:$.id", key="json:$.k")
    assert sent(orders) == [("7", "2", '{"id": 7, "k": 2.0}')]


@pytest.mark.parametrize(
    ("change", "message"),
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
def test_rejects_rules_that_find_nothing_in_a_file(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('{"id": 1}\n')
    orders = Orders(topic="t", records=9, file=str(file), identity="json:$.id")
    with pytest.raises(BadRule, match=message):
        sent(replace(orders, **change))  # type: ignore[arg-type]


def test_rejects_invalid_file(tmp_path: Path) -> None:
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


def test_sentinels_get_the_event_times_of_their_rounds() -> None:
    found = event_times(TIMED)
    plain = [found[f"order-{n:06d}"] for n in range(540)]
    rounds = [{found[f"order-{n:06d}"] for n in range(at, at + 20)} for at in (540, 560, 580)]
    assert rounds == [{round_event_time(TIMES, plain, number)} for number in range(3)]
    assert [json.loads(v)["at"] for _, _, v in sent(Orders(topic="t", records=1, times=TIMES))]
    assert "at" not in json.loads(sent(Orders(topic="t", records=1))[0][2])
    assert (TIMED.rounds, Orders(topic="t", records=1).rounds) == (3, 1)


@pytest.mark.parametrize("partitions", [3, 4, 7])
def test_each_sentinel_round_reaches_every_partition(partitions: int) -> None:
    orders = replace(TIMED, partitions=partitions)
    keys = {record: key for record, key, _ in sent(orders)}
    for at in (540, 560, 580):
        reached = {partition_of_key(keys[f"order-{n:06d}"], partitions) for n in range(at, at + 20)}
        assert reached == set(range(partitions))


def test_only_the_first_sentinel_round_is_required() -> None:
    assert TIMED.required_sentinels(seed=1) == {f"order-{n:06d}" for n in range(540, 560)}
    rows = [row for n in (0, 1) for row in TIMED.expected(OUT, producer=n, seed=1)]
    optional = {row["record"] for row in rows if row["optional"]}
    assert optional == {f"order-{n:06d}" for n in range(560, 600)}
    assert len(rows) == 600
    without_sentinels = replace(TIMED, sentinels=0)
    assert not [
        row for row in without_sentinels.expected(OUT, producer=0, seed=1) if row["optional"]
    ]


def test_late_records_are_not_required() -> None:
    late = {f"order-{n:06d}" for n in range(25, 540, 50)}
    every = {f"order-{n:06d}" for n in range(600)}
    last = {f"order-{n:06d}" for n in range(560, 600)}
    assert TIMED.required(seed=1) == every - late - last
    disordered, too_late = TIMED.disorder(seed=1)
    assert too_late == len(late)
    assert 400 < disordered < 540
    assert Orders(topic="t", records=9).disorder(seed=1) == (0, 0)


def test_file_records_keep_event_times_except_sentinels(tmp_path: Path) -> None:
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
