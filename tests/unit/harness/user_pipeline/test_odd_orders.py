"""Odd records among generated orders."""

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
    """The log entry of the record."""
    value = None if record.value is None else record.value.encode()
    headers = {RECORD_HEADER: record.record.encode()}
    return logs.entry(0, topic="orders", key=record.key.encode(), value=value, headers=headers)


@pytest.mark.parametrize("kind", KINDS)
def test_odd_records_are_recognized_in_the_log(kind: str) -> None:
    odd = [r for r in sent(replace(PLAIN, odd=(kind,))) if IS_ODD[kind](entry(r))]
    assert 2 <= len(odd) <= 20
    assert odd[0].record < "order-000040", "the first comes early"
    assert not [r for r in sent(PLAIN) if IS_ODD[kind](entry(r))]


def test_odd_kinds_keep_other_records_and_all_expected_effects() -> None:
    orders = replace(PLAIN, odd=KINDS)
    plain, odd = sent(PLAIN), sent(orders)
    unchanged = [a == b for a, b in zip(plain, odd, strict=True)]
    assert 500 < sum(unchanged) < 600
    assert all(unchanged[-60:]), "those that are sent last are never odd"
    assert [r.record for r in plain] == [r.record for r in odd]
    assert list(orders.expected(OUT, producer=0, seed=3)) == list(
        PLAIN.expected(OUT, producer=0, seed=3)
    )


@pytest.mark.parametrize("partitions", [2, 3, 7])
def test_first_partition_starts_empty(partitions: int) -> None:
    orders = replace(PLAIN, odd=(*KINDS, EMPTY), partitions=partitions)
    first = [n for n, r in enumerate(sent(orders)) if partition_of_key(r.key, partitions) == 0]
    assert 150 <= first[0] < 150 + 10 * partitions, "a quarter of 600 leave it empty"
    assert all(r.key for r in sent(orders)[:150]), "those without a key would go anywhere"
    assert "" in {r.key for r in sent(orders)[150:]}


def test_oversize_record_is_an_order_with_a_long_note() -> None:
    large = [r for r in sent(replace(PLAIN, odd=(OVERSIZE,))) if len(r.value or "") > LARGE_BYTES]
    for record in large:
        order = json.loads(record.value or "")
        assert order["order_id"] == record.record
        assert len(order.pop("note")) == LARGE_BYTES


def test_headers_include_a_repeated_name_and_a_null_value() -> None:
    several = [r.headers for r in sent(replace(PLAIN, odd=(KEYS,))) if r.headers]
    assert len({name for name, _ in several[0]}) < len(several[0])
    assert None in {value for _, value in several[0]}


def test_digest_covers_the_sent_key_and_value() -> None:
    for record in sent(replace(PLAIN, odd=KINDS)):
        value = None if record.value is None else record.value.encode()
        assert record.digest == digest(record.key.encode(), value)
