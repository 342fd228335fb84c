"""Atomic batches read from a separate topic."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.sinks.base import AtomicBatch
from onceproof.harness.sinks.topic_with_batches import TopicWithBatches
from tests.unit.fakes import logs


def entry(offset: int, value: bytes, key: bytes | None = b"query", **more: Any) -> Entry:
    return logs.entry(offset, topic="batches", value=value, key=key, **more)


def batches(*entries: Entry) -> list[AtomicBatch]:
    reader = logs.FakeReader([logs.log(*entries, topic="batches")])
    sink = TopicWithBatches(reader, topic="out", view="read_committed", batches="batches")
    return sink.atomic_batches()


def test_only_batches_of_committed_transactions_count() -> None:
    found = batches(
        entry(0, b'{"batch": 0}'),
        entry(1, b"", kind="commit"),
        entry(2, b'{"batch": 1}'),
        entry(3, b"", kind="abort"),
        entry(4, b'{"batch": 1}', epoch=1),
        entry(5, b"", kind="commit", epoch=1),
        entry(6, b'{"batch": 2}'),
    )
    assert found == [
        AtomicBatch(owner="query", batch=0, ordinal=0),
        AtomicBatch(owner="query", batch=1, ordinal=1),
    ]


@pytest.mark.parametrize("value", [b"", b"nonsense", b"[]", b"{}", b'{"batch": "1"}'])
def test_malformed_batch_record_is_ignored(value: bytes) -> None:
    assert batches(entry(0, value, transactional=False)) == []


def test_batch_record_without_key_is_ignored() -> None:
    assert batches(entry(0, b'{"batch": 1}', key=None, transactional=False)) == []
