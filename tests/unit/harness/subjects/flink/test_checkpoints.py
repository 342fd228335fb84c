"""Reading a Flink job's checkpoints from their folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.subjects.flink.checkpoints import (
    METADATA,
    Complete,
    UnreadableCheckpoint,
    newest,
    sign_of,
    splits,
)
from tests.unit.harness.subjects.flink.made_up_job import MadeUpCheckpoint, split


def test_splits_reads_offsets_of_one_topic() -> None:
    data = b"\0\0" + split("payments", 0, 17) + b"x" + split("payments", 2, 5)
    assert splits(data + split("payments-too", 1, 9), "payments") == {0: 17, 2: 5}


def test_splits_ignores_bounded_foreign_and_truncated_splits() -> None:
    data = split("payments", 1, 9, end=100) + split("other", 0, 3) + b"\x00\x08payments" + b"\x00"
    assert splits(data, "payments") == {}


def test_splits_keeps_the_highest_offset_of_a_partition() -> None:
    found = split("payments", 0, -2) + split("payments", 0, 40) + split("payments", 0, -2)
    assert splits(found, "payments") == {0: 40}


def test_partition_not_read_yet_has_no_offset(tmp_path: Path) -> None:
    MadeUpCheckpoint(tmp_path, 1).complete({0: -2, 1: 8})
    checkpoint = newest(tmp_path)
    assert checkpoint is not None
    assert checkpoint.positions("payments") == {("payments", 1): 8}


def test_source_without_partitions_has_no_offsets(tmp_path: Path) -> None:
    MadeUpCheckpoint(tmp_path, 1).complete({})
    checkpoint = newest(tmp_path)
    assert checkpoint is not None
    assert checkpoint.positions("payments") == {}


def test_missing_checkpoint_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableCheckpoint, match="chk-9"):
        Complete(number=9, folder=tmp_path / "chk-9").positions("payments")


def test_newest_is_the_complete_checkpoint_with_the_highest_number(tmp_path: Path) -> None:
    assert newest(tmp_path) is None
    for number in (9, 10):
        MadeUpCheckpoint(tmp_path, number).complete({0: number})
    MadeUpCheckpoint(tmp_path, 11).flush({0: 11})
    found = newest(tmp_path)
    assert found == Complete(number=10, folder=tmp_path / "f00" / "chk-10")
    assert (found.folder / METADATA).exists()


def test_sign_of_follows_a_checkpoint_to_completion(tmp_path: Path) -> None:
    assert sign_of(tmp_path, 3) is None
    checkpoint = MadeUpCheckpoint(tmp_path, 3)
    assert sign_of(tmp_path, 3) == "begun"
    checkpoint.flush({0: 1})
    assert sign_of(tmp_path, 3) == "flushed"
    checkpoint.complete()
    assert sign_of(tmp_path, 3) == "complete"
