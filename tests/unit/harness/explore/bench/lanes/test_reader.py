"""When a client that reads gets its inputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from onceproof.harness.explore.bench.lanes import reader
from onceproof.harness.explore.bench.lanes.base import Surroundings
from onceproof.harness.explore.bench.lanes.reader import PARTITIONS, Input, ReaderLane
from onceproof.harness.explore.exploration import Load

PART = 2 * PARTITIONS


@dataclass(kw_only=True)
class Lane(ReaderLane):
    """A client that commits when a test says so."""

    committed: bool = True
    sent: list[int] = field(default_factory=list)

    def inputs(self) -> Iterable[Input]:
        return (Input(record=f"r{n}", key=b"", value=b"") for n in range(self.size))

    def _send(self, part: Iterable[Input]) -> None:
        records = [each.record for each in part]
        self._sent.update(records)
        self.sent.append(len(records))

    def _committed(self) -> bool:
        return self.committed

    def restart(self) -> None:
        pass

    def claims(self) -> Any: ...
    def start(self) -> None: ...
    def perceived(self) -> Any: ...
    def expected(self) -> Any: ...
    def open_sink(self, reader: Any) -> Any: ...


@pytest.fixture
def lane(monkeypatch: pytest.MonkeyPatch) -> Lane:
    monkeypatch.setattr(reader, "_EVERY", 0.0)
    load = Load(transactions=2, records=2)
    return Lane(name="lane1", load=load, around=cast("Surroundings", None))


def test_each_part_waits_for_the_one_before(lane: Lane) -> None:
    assert not lane.over()
    lane.committed = False
    assert not lane.over()
    lane.committed = True
    assert [lane.over(), lane.over()] == [False, True]
    assert lane.sent == [PART, PART, 0]


def test_one_more_part_follows_the_faults(lane: Lane) -> None:
    assert [lane.over() for _ in range(3)] == [False, False, True]
    lane.go_on()
    assert [lane.over(), lane.over()] == [False, True]
    assert lane.sent == [PART, PART, 0, PART, 0]


def test_last_part_comes_although_inputs_were_lost(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a client that lost inputs would never be behind them, and the trial would stall."""
    assert not lane.over()
    lane.committed = False
    lane.go_on()
    assert not lane.over()
    assert lane.sent == [PART]
    monkeypatch.setattr(reader, "_PATIENCE_SECONDS", -1.0)
    lane.go_on()
    assert not lane.over()
    assert sum(lane.sent) == 2 * PART, "the second part, and in its turn the last one"
    assert not lane.over()
    assert sum(lane.sent) == 3 * PART
    assert not lane.over(), "only commits end it"
