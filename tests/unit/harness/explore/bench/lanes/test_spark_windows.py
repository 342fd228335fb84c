"""Signs of a checkpoint become windows of a query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from onceproof.harness.explore.bench.lanes.spark_windows import SparkWindows
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.crash_points import (
    AFTER_COMMIT,
    AFTER_OFFSET_LOG,
    AFTER_SINK_WRITE,
)
from onceproof.harness.wait import wait_until
from tests.unit.harness.subjects.spark.made_up_checkpoint import as_spark_does, entry


class Query:
    """A checkpoint that a test writes, and its windows."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint = Checkpoint(folder)
        self.checkpoint.create()
        self.windows = SparkWindows(
            (AFTER_OFFSET_LOG, AFTER_SINK_WRITE, AFTER_COMMIT),
            checkpoint=self.checkpoint,
            sink_log=None,
            sink=cast("Any", None),
            driver=lambda: None,
        )

    def plan(self, batch: int) -> None:
        text = entry({"in": {"0": batch + 1}})
        as_spark_does(self.checkpoint.folder / "offsets", batch, text)()

    def commit(self, batch: int) -> None:
        as_spark_does(self.checkpoint.folder / "commits", batch)()

    def passed(self, count: int) -> list[tuple[str, str, int, int]]:
        """Return so many events: window, purpose, life and batch."""
        wait_until(
            lambda: len(self.windows.passed()) >= count,
            what=f"{count} windows",
            seconds=20,
            seen=self.windows.passed,
        )
        self.windows.check()
        return [
            (e["api"], e["purpose"], e["life"], e["correlation_id"]) for e in self.windows.passed()
        ]


@pytest.fixture
def query(tmp_path: Path) -> Iterator[Query]:
    made = Query(tmp_path)
    yield made
    made.windows.close()


def test_batch_of_a_first_life(query: Query) -> None:
    query.windows.begin()
    query.plan(0)
    query.commit(0)
    assert query.passed(3) == [
        ("after-offset-log", "work", 1, 0),
        ("after-sink-write", "commit", 1, 0),
        ("after-commit", "commit", 1, 0),
    ]
    assert [event["ends"] for event in query.windows.passed()] == [False, False, True]


def test_batch_that_an_earlier_life_had_planned_is_recovery(query: Query) -> None:
    query.windows.begin()
    query.plan(0)
    query.passed(1)
    query.windows.begin()
    query.commit(0)
    query.plan(1)
    assert query.passed(4)[1:] == [
        ("after-sink-write", "recovery", 2, 0),
        ("after-commit", "recovery", 2, 0),
        ("after-offset-log", "work", 2, 1),
    ]
