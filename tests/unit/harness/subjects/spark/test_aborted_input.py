"""Aborted records among the offsets of micro-batches."""

from __future__ import annotations

from typing import Any

from onceproof.harness.subjects.spark.aborted_input import ABORTED_INPUT, aborted_input


def row(offset: int, *, committed: bool = False, **more: Any) -> dict[str, Any]:
    defaults = {"topic": "in", "partition": 0, "offset": offset, "kind": "data"}
    return defaults | {"committed": committed} | more


def batch(start: int, end: int, **more: Any) -> dict[str, Any]:
    defaults = {"topic": "in", "partition": 0, "start_offset": start, "end_offset": end}
    return defaults | {"committed": True} | more


def count(log: list[dict[str, Any]], *ranges: dict[str, Any]) -> int:
    found = aborted_input(log, ranges)
    assert [each["hazard"] for each in found] == [ABORTED_INPUT] * len(found)
    return int(found[0]["detail"].split()[0]) if found else 0


def test_aborted_records_in_committed_batches_are_counted() -> None:
    log = [row(n) for n in range(9)]
    assert count(log, batch(2, 4), batch(4, 5)) == 3
    assert count(log, batch(2, 4, committed=False)) == 0
    assert count(log, batch(2, 4, partition=1)) == 0
    assert count(log, batch(2, 4, topic="out")) == 0


def test_committed_records_and_markers_are_not_counted() -> None:
    assert count([row(0, committed=True), row(1, kind="abort")], batch(0, 9)) == 0


def test_batch_executed_twice_counts_once() -> None:
    assert count([row(3)], batch(0, 9), batch(0, 9)) == 1
