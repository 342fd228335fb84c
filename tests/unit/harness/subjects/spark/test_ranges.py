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


def test_reported_ranges_are_used(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0, 1)
    reported = [
        progress(0, "one", None, payments(5, 2)),
        progress(1, "one", payments(5, 2), payments(9, 2)),
    ]
    assert executed_ranges(checkpoint, reported) == [
        row(0, "one", 0, 0, 5),
        row(0, "one", 1, 0, 2),
        row(1, "one", 0, 5, 9),
        row(1, "one", 1, 2, 2),
    ]


def test_first_batch_starts_at_the_checkpoints_initial_offsets(checkpoint: Checkpoint) -> None:
    """Progress of the first batch has no start offsets, but the checkpoint has them."""
    commit(checkpoint, 0)
    begin_at(checkpoint, '{"payments": {"0": 4, "1": 1}}')
    expected = [(0, 4, 5), (1, 1, 2)]
    found = executed_ranges(checkpoint, [progress(0, "one", None, payments(5, 2))])
    assert found == [row(0, "one", p, start, end) for p, start, end in expected]
    filled_in = executed_ranges(checkpoint, [])
    assert filled_in == [row(0, "unknown", p, s, e, source="planned") for p, s, e in expected]


def test_committed_batch_without_progress_is_filled_in(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0, 1)
    reported = [progress(0, "one", None, payments(5, 2))]
    assert executed_ranges(checkpoint, reported)[2:] == [
        row(1, "unknown", 0, 5, 9, source="planned"),
        row(1, "unknown", 1, 2, 2, source="planned"),
    ]


def test_batch_after_a_purged_one_is_not_filled_in(checkpoint: Checkpoint) -> None:
    (checkpoint.folder / "offsets" / "0").unlink()
    commit(checkpoint, 1, 2)
    assert executed_ranges(checkpoint, []) == [
        row(2, "unknown", 0, 9, 9, source="planned"),
        row(2, "unknown", 1, 2, 8, source="planned"),
    ]


def test_uncommitted_batch_is_not_filled_in(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0)
    assert {r["batch"] for r in executed_ranges(checkpoint, [])} == {0}


def test_only_the_last_execution_of_a_batch_is_committed(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0)
    reported = [
        progress(0, "one", None, payments(5, 2)),
        progress(0, "another", None, payments(5, 2)),
    ]
    found = executed_ranges(checkpoint, reported)
    assert found == [
        row(0, "another", 0, 0, 5),
        row(0, "another", 1, 0, 2),
        row(0, "one", 0, 0, 5, committed=False),
        row(0, "one", 1, 0, 2, committed=False),
    ]


def test_reported_batch_without_commit_is_uncommitted(checkpoint: Checkpoint) -> None:
    reported = [progress(0, "one", None, payments(5))]
    assert executed_ranges(checkpoint, reported) == [row(0, "one", 0, 0, 5, committed=False)]


def test_last_progress_of_an_execution_counts(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 0)
    reported = [progress(0, "one", None, payments(3)), progress(0, "one", None, payments(5))]
    assert executed_ranges(checkpoint, reported) == [row(0, "one", 0, 0, 5)]


def test_partition_added_later_starts_at_offset_zero(checkpoint: Checkpoint) -> None:
    commit(checkpoint, 1)
    reported = [progress(1, "one", payments(5), payments(9, 4))]
    assert executed_ranges(checkpoint, reported) == [row(1, "one", 0, 5, 9), row(1, "one", 1, 0, 4)]


def test_source_without_offsets_has_no_ranges(checkpoint: Checkpoint) -> None:
    commit(checkpoint)
    assert executed_ranges(checkpoint, [progress(0, "one", None, None)]) == []


def test_owner_is_unknown_before_the_query_has_an_id(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.create()
    (tmp_path / "offsets" / "0").write_text('v1\n{}\n{"payments": {"0": 5}}')
    commit(checkpoint, 0)
    (found,) = executed_ranges(checkpoint, [])
    assert found["owner"] == "?"


def test_ranges_are_sorted_by_batch_number(checkpoint: Checkpoint) -> None:
    reported = [progress(n, "one", None, payments(n)) for n in (10, 9, 100)]
    assert [r["batch"] for r in executed_ranges(checkpoint, reported)] == [9, 10, 100]
