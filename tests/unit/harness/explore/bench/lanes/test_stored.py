"""When a consumer that stores its offsets has done its work, and what is judged of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.harness.explore.bench.lanes.base import Surroundings
from onceproof.harness.explore.bench.lanes.stored import SqliteLane
from onceproof.harness.explore.exploration import Load
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.subjects.stored.batch import Batch
from onceproof.harness.subjects.stored.sqlite import SqliteStore

READER = cast("LogReader", SimpleNamespace(count=lambda topic: 0))


@pytest.fixture
def lane(tmp_path: Path) -> SqliteLane:
    around = cast("Surroundings", SimpleNamespace(work=tmp_path))
    lane = SqliteLane(name="lane1", load=Load(), around=around, client="librdkafka")
    lane.prepare(READER)
    return lane


def store(lane: SqliteLane, *, start: int, end: int) -> None:
    """Store rows and the offset after them, as the consumer does."""
    rows = tuple((f"r{n}", "acme", 5, 1, 0, n) for n in range(start, end))
    database = SqliteStore(lane.around.work / "lane1.db", guard=True)
    database.stored("lane1in", [0])
    batch = Batch(topic="lane1in", rows=rows, starts={0: start}, ends={0: end})
    database.write(batch, offsets=True)


def test_committed_when_the_offsets_of_all_inputs_are_stored(lane: SqliteLane) -> None:
    lane._ends = {0: 4}
    seen: list[Any] = []
    for start, end in ((0, 2), (2, 4)):
        seen.append(lane._committed())
        store(lane, start=start, end=end)
    assert [*seen, lane._committed()] == [False, False, True]
    assert [(at.partition, at.offset) for at in lane.positions(READER)] == [(0, 2), (0, 4)]


def test_rows_are_effects_in_a_sink_of_the_lane(lane: SqliteLane) -> None:
    store(lane, start=0, end=2)
    (claim,) = lane.claims()
    found = list(lane.effects(READER))
    assert [(row.record, row.sink) for row in found] == [("r0", "lane1"), ("r1", "lane1")]
    assert (claim.scope.input, claim.scope.sink) == ("lane1in", "lane1")
    assert {row["sink"] for row in lane.expected()} == {"lane1"}
    assert {row.digest for row in found}.isdisjoint({row["digest"] for row in lane.expected()})
