"""The harness's own history and its events, which must tell the same story."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.clock import clock_id
from onceproof.harness.context.recorder import HeldBack, Recorder, Stalled
from onceproof.harness.history.events import (
    Event,
    FaultChanged,
    HazardObserved,
    InstanceChanged,
    PhaseEnded,
    PhaseStarted,
)
from onceproof.harness.history.tables import read_lines
from onceproof.harness.wait import Interrupted
from tests.unit.fakes.process import FakeProcess


class Told:
    def __init__(self, folder: Path) -> None:
        self.events: list[Event] = []
        self.again: list[Event] = []
        self.recorder = Recorder(folder, [self.events.append, self.again.append])
        self.folder = folder

    def rows(self, table: str) -> list[dict[str, Any]]:
        return read_lines(self.folder).tables[table].to_pylist()


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path)


def test_a_phase_that_ends_well(told: Told) -> None:
    with told.recorder.phase("settle"):
        (begun,) = told.rows("phases")
        assert (begun["ended_at"], begun["outcome"]) == (None, None)
    (row,) = told.rows("phases")
    assert (row["phase"], row["outcome"], row["detail"]) == ("settle", "ok", None)
    assert row["ended_at"] >= row["started_at"]
    assert row["clock"] == clock_id()
    started, ended = told.events
    assert isinstance(started, PhaseStarted)
    assert isinstance(ended, PhaseEnded)
    assert (started.phase, ended.phase, ended.outcome) == ("settle", "settle", "ok")
    assert ended.seconds == (row["ended_at"] - row["started_at"]) / 1e9


@pytest.mark.parametrize(
    ("error", "outcome", "detail"),
    [
        (Interrupted("SIGTERM received"), "interrupted", "SIGTERM received"),
        (KeyboardInterrupt(), "interrupted", "interrupted"),
        (Stalled("no progress"), "stalled", "no progress"),
        (HeldBack("3 inputs wait"), "held-back", "3 inputs wait"),
        (ValueError("wrong"), "failed", "ValueError: wrong"),
        (ExceptionGroup("both", [OSError()]), "failed", "ExceptionGroup: both (1 sub-exception)"),
    ],
)
def test_what_ends_a_phase_is_told_and_passed_on(
    told: Told, error: BaseException, outcome: str, detail: str
) -> None:
    with pytest.raises(type(error)) as raised, told.recorder.phase("heal"):
        raise error
    assert raised.value is error
    (row,) = told.rows("phases")
    assert (row["outcome"], row["detail"]) == (outcome, detail)
    ended = told.events[-1]
    assert isinstance(ended, PhaseEnded)
    assert (ended.outcome, ended.detail) == (outcome, detail)


@pytest.mark.parametrize("error", [SystemExit(1), GeneratorExit(), BaseException("odd")])
def test_a_phase_that_was_left_in_another_way_is_not_ok(told: Told, error: BaseException) -> None:
    with pytest.raises(type(error)), told.recorder.phase("heal"):
        raise error
    assert told.rows("phases")[0]["outcome"] != "ok"


def test_every_handler_hears_everything_in_order(told: Told) -> None:
    with told.recorder.phase("a"):
        told.recorder.hazard("replayed-batch", hop="process", detail="batch 3 again")
    assert told.events == told.again
    assert [type(e) for e in told.events] == [PhaseStarted, HazardObserved, PhaseEnded]


def test_a_process_that_starts_and_ends(told: Told) -> None:
    process = FakeProcess("driver#2")
    process.started_at = 5
    told.recorder.process(process)
    process.ended_at, process.how = 9, "SIGKILL by fault «x»"
    told.recorder.process(process)
    (row,) = told.rows("instances")
    assert row == {
        "subject": "driver",
        "instance": "driver#2",
        "started_at": 5,
        "ended_at": 9,
        "how": "SIGKILL by fault «x»",
        "clock": clock_id(),
    }
    assert all(isinstance(e, InstanceChanged) for e in told.events)
    assert [e.state for e in told.events] == ["started", "ended: SIGKILL by fault «x»"]


def test_a_fault_in_a_new_state(told: Told) -> None:
    row = {
        "fault": "cut", "kind": "partition", "description": "d", "required": True,
        "took_effect": False, "clock": "c",
    }  # fmt: skip
    told.recorder.fault(row, "armed", "waiting")
    told.recorder.fault(row | {"took_effect": True}, "took effect", "3 connections")
    (found,) = told.rows("faults")
    assert found["took_effect"]
    assert all(isinstance(e, FaultChanged) for e in told.events)
    assert [(e.fault, e.kind, e.state, e.detail) for e in told.events] == [
        ("cut", "partition", "armed", "waiting"),
        ("cut", "partition", "took effect", "3 connections"),
    ]


def test_a_hazard_has_a_row_for_each_attempt(told: Told) -> None:
    told.recorder.hazard(
        "retried-send", hop="produce", detail="2 sends", fault="lost", attempts=["a", "b"]
    )
    told.recorder.hazard("replayed-batch", hop="process", detail="again", owner="q", batch=3)
    assert [
        (r["hazard"], r["hop"], r["fault"], r["owner"], r["batch"], r["attempt"])
        for r in told.rows("hazards")
    ] == [
        ("retried-send", "produce", "lost", None, None, "a"),
        ("retried-send", "produce", "lost", None, None, "b"),
        ("replayed-batch", "process", None, "q", 3, None),
    ]
    assert [e.hazard for e in told.events] == ["retried-send", "replayed-batch"]
    assert len({r["at"] for r in told.rows("hazards")[:2]}) == 1


def test_hazards_are_counted_as_they_were_met_not_by_their_attempts(told: Told) -> None:
    assert told.recorder.met("retried-send") == 0
    told.recorder.hazard("retried-send", hop="produce", detail="2 sends", attempts=["a", "b"])
    told.recorder.hazard("replayed-batch", hop="process", detail="again")
    told.recorder.hazard("replayed-batch", hop="process", detail="and again")
    assert [told.recorder.met(name) for name in ("retried-send", "replayed-batch")] == [1, 2]


def test_a_hazard_may_have_been_seen_earlier_than_it_is_told(told: Told) -> None:
    told.recorder.hazard("retried-send", hop="produce", detail="2 sends", at=4711)
    assert told.rows("hazards")[0]["at"] == 4711
