"""Checkpoints of a Flink job, read from their folder."""

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


def test_positions_are_the_splits_of_the_topic() -> None:
    data = b"\0\0" + split("payments", 0, 17) + b"x" + split("payments", 2, 5)
    assert splits(data + split("payments-too", 1, 9), "payments") == {0: 17, 2: 5}


def test_what_only_looks_like_one_is_none() -> None:
    data = split("payments", 1, 9, end=100) + split("other", 0, 3) + b"\x00\x08payments" + b"\x00"
    assert splits(data, "payments") == {}


def test_the_furthest_of_what_is_said_twice_counts() -> None:
    found = split("payments", 0, -2) + split("payments", 0, 40) + split("payments", 0, -2)
    assert splits(found, "payments") == {0: 40}


def test_nothing_read_yet_is_no_position(tmp_path: Path) -> None:
    MadeUpCheckpoint(tmp_path, 1).complete({0: -2, 1: 8})
    checkpoint = newest(tmp_path)
    assert checkpoint is not None
    assert checkpoint.positions("payments") == {("payments", 1): 8}


def test_a_source_without_partitions_has_no_position(tmp_path: Path) -> None:
    MadeUpCheckpoint(tmp_path, 1).complete({})
    checkpoint = newest(tmp_path)
    assert checkpoint is not None
    assert checkpoint.positions("payments") == {}


def test_one_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnreadableCheckpoint, match="chk-9"):
        Complete(number=9, folder=tmp_path / "chk-9").positions("payments")


def test_the_newest_is_by_number_and_complete(tmp_path: Path) -> None:
    assert newest(tmp_path) is None
    for number in (9, 10):
        MadeUpCheckpoint(tmp_path, number).complete({0: number})
    MadeUpCheckpoint(tmp_path, 11).flush({0: 11})
    found = newest(tmp_path)
    assert found == Complete(number=10, folder=tmp_path / "f00" / "chk-10")
    assert (found.folder / METADATA).exists()


def test_how_far_a_checkpoint_is(tmp_path: Path) -> None:
    assert sign_of(tmp_path, 3) is None
    checkpoint = MadeUpCheckpoint(tmp_path, 3)
    assert sign_of(tmp_path, 3) == "begun"
    checkpoint.flush({0: 1})
    assert sign_of(tmp_path, 3) == "flushed"
    checkpoint.complete()
    assert sign_of(tmp_path, 3) == "complete"
