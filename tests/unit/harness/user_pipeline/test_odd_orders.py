"""Odd ones among made-up orders."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

import pytest

from onceproof.harness.history.identity import RECORD_HEADER, digest
from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.user_pipeline.odd_orders import IS_ODD, LARGE_BYTES
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.profile import EMPTY, KEYS, NULL, OVERSIZE
from onceproof.harness.workload.partitions import partition_of_key
from onceproof.harness.workload.task_file import SenderRecord
from tests.unit.fakes import logs
from tests.unit.fakes.run_context import FakeSubject

OUT: Final = FakeSubject(sinks=("out",))
KINDS: Final = (KEYS, NULL, OVERSIZE)
PLAIN: Final = Orders(topic="orders", records=600, sentinels=60, producers=1)


def sent(orders: Orders) -> list[SenderRecord]:
    return list(orders.sends(producer=0, seed=3))


def entry(record: SenderRecord) -> Entry:
    """It in the log."""
    value = None if record.value is None else record.value.encode()
    headers = {RECORD_HEADER: record.record.encode()}
    return logs.entry(0, topic="orders", key=record.key.encode(), value=value, headers=headers)


@pytest.mark.parametrize("kind", KINDS)
def test_some_are_odd_and_are_told_in_the_log(kind: str) -> None:
    odd = [r for r in sent(replace(PLAIN, odd=(kind,))) if IS_ODD[kind](entry(r))]
    assert 2 <= len(odd) <= 20
    assert odd[0].record < "order-000040", "the first comes early"
    assert not [r for r in sent(PLAIN) if IS_ODD[kind](entry(r))]


def test_all_others_are_as_ever_and_each_is_expected() -> None:
    orders = replace(PLAIN, odd=KINDS)
    plain, odd = sent(PLAIN), sent(orders)
    same = [a == b for a, b in zip(plain, odd, strict=True)]
    assert 500 < sum(same) < 600
    assert all(same[-60:]), "those that are sent last are never odd"
    assert [r.record for r in plain] == [r.record for r in odd]
    assert list(orders.expected(OUT, producer=0, seed=3)) == list(
        PLAIN.expected(OUT, producer=0, seed=3)
    )


@pytest.mark.parametrize("partitions", [2, 3, 7])
def test_one_partition_is_empty_to_begin_with(partitions: int) -> None:
    orders = replace(PLAIN, odd=(*KINDS, EMPTY), partitions=partitions)
    first = [n for n, r in enumerate(sent(orders)) if partition_of_key(r.key, partitions) == 0]
    assert 150 <= first[0] < 150 + 10 * partitions, "a quarter of 600 leave it empty"
    assert all(r.key for r in sent(orders)[:150]), "those without a key would go anywhere"
    assert "" in {r.key for r in sent(orders)[150:]}


def test_a_large_one_is_an_order_with_a_long_note() -> None:
    large = [r for r in sent(replace(PLAIN, odd=(OVERSIZE,))) if len(r.value or "") > LARGE_BYTES]
    for record in large:
        order = json.loads(record.value or "")
        assert order["order_id"] == record.record
        assert len(order.pop("note")) == LARGE_BYTES


def test_several_headers_have_one_name_and_one_has_no_value() -> None:
    several = [r.headers for r in sent(replace(PLAIN, odd=(KEYS,))) if r.headers]
    assert len({name for name, _ in several[0]}) < len(several[0])
    assert None in {value for _, value in several[0]}


def test_the_digest_is_of_what_is_sent() -> None:
    for record in sent(replace(PLAIN, odd=KINDS)):
        value = None if record.value is None else record.value.encode()
        assert record.digest == digest(record.key.encode(), value)
