"""What becomes of a log's entries when they are collected."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.history.identity import ATTEMPT_HEADER, ODD_HEADER, RECORD_HEADER
from onceproof.harness.kafka.log_reader import Entry, PartitionLog
from onceproof.harness.run.collect import _write_log


def entry(offset: int, kind: str, **headers: bytes) -> Entry:
    return Entry(
        topic="orders", partition=0, offset=offset, kind=kind, key=b"k", value=b"v",
        headers=headers,
        producer_id=7, epoch=0, sequence=offset, transactional=kind != "data",
    )  # fmt: skip


def collected(*entries: Entry) -> list[dict[str, Any]]:
    log = PartitionLog(
        topic="orders", partition=0, log_start=0, last_stable_offset=9, high_watermark=9,
        entries=list(entries),
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    writer: Any = SimpleNamespace(
        write=lambda table, **row: None, write_all=lambda table, more: rows.extend(more)
    )
    _write_log(writer, log)
    return rows


def test_a_record_is_named_by_its_headers() -> None:
    named = {RECORD_HEADER: b"a", ATTEMPT_HEADER: b"s/1"}
    (row,) = collected(entry(3, "data", **named))
    assert (row["kind"], row["offset"], row["record"], row["attempt"]) == ("data", 3, "a", "s/1")
    assert row["committed"]


@pytest.mark.parametrize("kind", ["commit", "abort"])
def test_a_marker_names_nothing(kind: str) -> None:
    (row,) = collected(entry(3, kind))
    assert (row["kind"], row["record"], row["digest"], row["sequence"]) == (kind, None, None, None)


def test_what_was_sent_beside_the_workload_is_no_input() -> None:
    (row,) = collected(entry(3, "data", **{ODD_HEADER: b"", RECORD_HEADER: b"order-900001"}))
    assert (row["kind"], row["record"]) == ("odd", "order-900001")
