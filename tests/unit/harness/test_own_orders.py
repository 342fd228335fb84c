"""What is sent to a pipeline of somebody's own, and what each record must come to."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.identity import digest
from harness.own.given import count
from harness.own.identity import BadRule
from harness.own.orders import Orders


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


def test_what_each_must_come_to(tmp_path: Path) -> None:
    rules = tmp_path / "rules.py"
    rules.write_text("def effects(order): return order['quantity'] % 3\n")
    plain, optional, several = (
        list(
            Orders(topic="t", records=40, effects=effects).expected(producer=0, seed=1, sink="out")
        )
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
        ('{"id": 1}\n{"x": 1}\n', r"records.jsonl line 2: no identity by json:\$.id in "),
        ('{"id": 1}\n\n{"id": "1"}\n', r"line 3 has the identity '1' of records.jsonl line 1"),
        ('{"id": 1}\nno\n', r"records.jsonl line 2: expected JSON, found 'no"),
    ],
)
def test_a_file_that_cannot_be_sent(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(text)
    with pytest.raises(BadRule, match=says):
        sent(Orders(topic="t", records=9, file=str(file), identity="json:$.id"))


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadRule, match=r"expected a name that ends with \.jsonl"):
        count(tmp_path / "records.txt")
    with pytest.raises(BadRule, match="No such file"):
        count(tmp_path / "records.csv")
    (tmp_path / "records.parquet").write_text("no")
    with pytest.raises(BadRule, match="cannot be read"):
        count(tmp_path / "records.parquet")
