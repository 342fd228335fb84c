"""Which offsets each execution of each micro-batch processed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.ranges import executed_ranges
from tests.unit.harness.subjects.spark.made_up_checkpoint import begin_at

Ends = dict[str, dict[str, int]]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    made = Checkpoint(tmp_path)
    made.create()
    (tmp_path / "metadata").write_text('{"id":"query"}')
    for batch, ends in enumerate(['{"0": 5, "1": 2}', '{"0": 9, "1": 2}', '{"0": 9, "1": 8}']):
        (tmp_path / "offsets" / str(batch)).write_text(f'v1\n{{}}\n{{"payments": {ends}}}')
    return made


def commit(checkpoint: Checkpoint, *batches: int) -> None:
    for batch in batches:
        (checkpoint.folder / "commits" / str(batch)).write_text("v1\n{}")


def progress(batch: int, run: str, start: Ends | None, end: Ends | None) -> dict[str, Any]:
    return {
        "id": "query",
        "runId": run,
        "batchId": batch,
        "sources": [{"startOffset": start, "endOffset": end}],
    }


def payments(*offsets: int) -> Ends:
    return {"payments": {str(p): offset for p, offset in enumerate(offsets)}}


def row(batch: int, run: str, partition: int, start: int, end: int, **more: Any) -> dict[str, Any]:
    return {
        "owner": "query",
        "execution": run,
        "batch": batch,
        "topic": "payments",
        "partition": partition,
        "start_offset": start,
        "end_offset": end,
        "committed": True,
        "source": "progress",
    } | more


def test_what_was_told_is_taken(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0, 1)
    told = [
        progress(0, "one", None, payments(5, 2)),
        progress(1, "one", payments(5, 2), payments(9, 2)),
    ]
    assert executed_ranges(checkpoint, told) == [
        row(0, "one", 0, 0, 5),
        row(0, "one", 1, 0, 2),
        row(1, "one", 0, 5, 9),
        row(1, "one", 1, 2, 2),
    ]


def test_a_query_that_began_elsewhere(checkpoint: Checkpoint) -> None:
    """With its first batch it does not tell where, but its checkpoint does."""
    commit(checkpoint, 0)
    begin_at(checkpoint, '{"payments": {"0": 4, "1": 1}}')
    where = [(0, 4, 5), (1, 1, 2)]
    told = executed_ranges(checkpoint, [progress(0, "one", None, payments(5, 2))])
    assert told == [row(0, "one", p, start, end) for p, start, end in where]
    filled_in = executed_ranges(checkpoint, [])
    assert filled_in == [row(0, "unknown", p, s, e, source="planned") for p, s, e in where]


def test_a_committed_batch_that_was_never_told_is_filled_in(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0, 1)
    told = [progress(0, "one", None, payments(5, 2))]
    assert executed_ranges(checkpoint, told)[2:] == [
        row(1, "unknown", 0, 5, 9, source="planned"),
        row(1, "unknown", 1, 2, 2, source="planned"),
    ]


def test_of_what_was_purged_nothing_is_filled_in(checkpoint: Checkpoint) -> None:
    (checkpoint.folder / "offsets" / "0").unlink()
    commit(checkpoint, 1, 2)
    assert executed_ranges(checkpoint, []) == [
        row(2, "unknown", 0, 9, 9, source="planned"),
        row(2, "unknown", 1, 2, 8, source="planned"),
    ]


def test_a_planned_batch_without_commit_is_not_filled_in(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0)
    assert {r["batch"] for r in executed_ranges(checkpoint, [])} == {0}


def test_of_a_replayed_batch_only_the_last_execution_counts(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0)
    told = [
        progress(0, "one", None, payments(5, 2)),
        progress(0, "another", None, payments(5, 2)),
    ]
    found = executed_ranges(checkpoint, told)
    assert found == [
        row(0, "another", 0, 0, 5),
        row(0, "another", 1, 0, 2),
        row(0, "one", 0, 0, 5, committed=False),
        row(0, "one", 1, 0, 2, committed=False),
    ]


def test_an_execution_that_was_told_and_not_committed(checkpoint: Checkpoint) -> None:
    told = [progress(0, "one", None, payments(5))]
    assert executed_ranges(checkpoint, told) == [row(0, "one", 0, 0, 5, committed=False)]


def test_told_twice_by_one_execution_is_one_execution(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0)
    told = [progress(0, "one", None, payments(3)), progress(0, "one", None, payments(5))]
    assert executed_ranges(checkpoint, told) == [row(0, "one", 0, 0, 5)]


def test_a_partition_that_came_later_starts_at_its_beginning(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 1)
    told = [progress(1, "one", payments(5), payments(9, 4))]
    assert executed_ranges(checkpoint, told) == [row(1, "one", 0, 5, 9), row(1, "one", 1, 0, 4)]


def test_a_source_that_had_nothing_yet(checkpoint: Checkpoint) -> None:
    commit(checkpoint)
    assert executed_ranges(checkpoint, [progress(0, "one", None, None)]) == []


def test_before_the_query_had_an_id(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.create()
    (tmp_path / "offsets" / "0").write_text('v1\n{}\n{"payments": {"0": 5}}')
    commit(checkpoint, 0)
    (found,) = executed_ranges(checkpoint, [])
    assert found["owner"] == "?"


def test_batches_are_in_the_order_of_their_numbers(checkpoint: Checkpoint) -> None:
    told = [progress(n, "one", None, payments(n)) for n in (10, 9, 100)]
    assert [r["batch"] for r in executed_ranges(checkpoint, told)] == [9, 10, 100]
