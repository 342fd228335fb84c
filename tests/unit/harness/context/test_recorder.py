"""The recorder writes the same changes to the history and to event handlers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.clock import clock_id
from onceproof.harness.context.recorder import MayStillWrite, Recorder, Stalled
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


class Recorded:
    def __init__(self, folder: Path) -> None:
        self.events: list[Event] = []
        self.other_events: list[Event] = []
        self.recorder = Recorder(folder, [self.events.append, self.other_events.append])
        self.folder = folder

    def rows(self, table: str) -> list[dict[str, Any]]:
        return read_lines(self.folder).tables[table].to_pylist()


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def test_successful_phase_is_recorded(recorded: Recorded) -> None:
    with recorded.recorder.phase("settle"):
        (begun,) = recorded.rows("phases")
        assert (begun["ended_at"], begun["outcome"]) == (None, None)
    (row,) = recorded.rows("phases")
    assert (row["phase"], row["outcome"], row["detail"]) == ("settle", "ok", None)
    assert row["ended_at"] >= row["started_at"]
    assert row["clock"] == clock_id()
    started, ended = recorded.events
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
        (MayStillWrite("3 inputs wait"), "held-back", "3 inputs wait"),
        (ValueError("wrong"), "failed", "ValueError: wrong"),
        (ExceptionGroup("both", [OSError()]), "failed", "ExceptionGroup: both (1 sub-exception)"),
    ],
)
def test_error_in_a_phase_is_recorded_and_reraised(
    recorded: Recorded, error: BaseException, outcome: str, detail: str
) -> None:
    with pytest.raises(type(error)) as raised, recorded.recorder.phase("heal"):
        raise error
    assert raised.value is error
    (row,) = recorded.rows("phases")
    assert (row["outcome"], row["detail"]) == (outcome, detail)
    ended = recorded.events[-1]
    assert isinstance(ended, PhaseEnded)
    assert (ended.outcome, ended.detail) == (outcome, detail)


@pytest.mark.parametrize("error", [SystemExit(1), GeneratorExit(), BaseException("odd")])
def test_phase_left_by_base_exception_is_not_ok(recorded: Recorded, error: BaseException) -> None:
    with pytest.raises(type(error)), recorded.recorder.phase("heal"):
        raise error
    assert recorded.rows("phases")[0]["outcome"] != "ok"


def test_every_handler_gets_all_events_in_order(recorded: Recorded) -> None:
    with recorded.recorder.phase("a"):
        recorded.recorder.hazard("replayed-batch", hop="process", detail="batch 3 again")
    assert recorded.events == recorded.other_events
    assert [type(e) for e in recorded.events] == [PhaseStarted, HazardObserved, PhaseEnded]


def test_process_start_and_end_share_one_row(recorded: Recorded) -> None:
    process = FakeProcess("driver#2")
    process.started_at = 5
    recorded.recorder.process(process)
    process.ended_at, process.how = 9, "SIGKILL by fault «x»"
    recorded.recorder.process(process)
    (row,) = recorded.rows("instances")
    assert row == {
        "subject": "driver",
        "instance": "driver#2",
        "started_at": 5,
        "ended_at": 9,
        "how": "SIGKILL by fault «x»",
        "clock": clock_id(),
    }
    assert all(isinstance(e, InstanceChanged) for e in recorded.events)
    assert [e.state for e in recorded.events] == ["started", "ended: SIGKILL by fault «x»"]


def test_fault_states_update_one_row(recorded: Recorded) -> None:
    row = {
        "fault": "cut", "kind": "partition", "description": "d", "required": True,
        "took_effect": False, "clock": "c",
    }  # fmt: skip
    recorded.recorder.fault(row, "armed", "waiting")
    recorded.recorder.fault(row | {"took_effect": True}, "took effect", "3 connections")
    (found,) = recorded.rows("faults")
    assert found["took_effect"]
    assert all(isinstance(e, FaultChanged) for e in recorded.events)
    assert [(e.fault, e.kind, e.state, e.detail) for e in recorded.events] == [
        ("cut", "partition", "armed", "waiting"),
        ("cut", "partition", "took effect", "3 connections"),
    ]


def test_hazard_has_one_row_per_attempt(recorded: Recorded) -> None:
    recorded.recorder.hazard(
        "retried-send", hop="produce", detail="2 sends", fault="lost", attempts=["a", "b"]
    )
    recorded.recorder.hazard("replayed-batch", hop="process", detail="again", owner="q", batch=3)
    assert [
        (r["hazard"], r["hop"], r["fault"], r["owner"], r["batch"], r["attempt"])
        for r in recorded.rows("hazards")
    ] == [
        ("retried-send", "produce", "lost", None, None, "a"),
        ("retried-send", "produce", "lost", None, None, "b"),
        ("replayed-batch", "process", None, "q", 3, None),
    ]
    assert [e.hazard for e in recorded.events] == ["retried-send", "replayed-batch"]
    assert len({r["at"] for r in recorded.rows("hazards")[:2]}) == 1


def test_met_counts_hazards_not_attempts(recorded: Recorded) -> None:
    assert recorded.recorder.met("retried-send") == 0
    recorded.recorder.hazard("retried-send", hop="produce", detail="2 sends", attempts=["a", "b"])
    recorded.recorder.hazard("replayed-batch", hop="process", detail="again")
    recorded.recorder.hazard("replayed-batch", hop="process", detail="and again")
    assert [recorded.recorder.met(name) for name in ("retried-send", "replayed-batch")] == [1, 2]


def test_hazard_keeps_its_given_time(recorded: Recorded) -> None:
    recorded.recorder.hazard("retried-send", hop="produce", detail="2 sends", at=4711)
    assert recorded.rows("hazards")[0]["at"] == 4711
