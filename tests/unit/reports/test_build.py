"""Reports are built from complete, partial and large histories, and stay small."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onceproof.checkers.model import Judgement, Verdict
from onceproof.checkers.tables import TABLES
from onceproof.harness.history.run_record import RunRecord
from onceproof.reports.build import build
from onceproof.reports.model import Report

EMPTY = Judgement(claims=(), findings=(), mutation_check=())


def test_headline_describes_the_finding(small_report: Report) -> None:
    assert small_report.headline == (
        "Not exactly once: 1 record of payments appears more than once in ledger; nothing was lost."
    )
    assert small_report.verdict is Verdict.VIOLATED
    assert small_report.expected is True


def test_times_are_seconds_since_the_start(small_report: Report) -> None:
    (fault,) = small_report.faults
    assert (fault.injected_at, fault.healed_at) == (12.0, 14.0)
    (group,) = small_report.findings
    assert group.shown[0].witness[0]["seen_at"] == 15.0
    assert small_report.run.seconds == 20.0


def test_finding_has_the_path_of_its_record(small_report: Report) -> None:
    path = small_report.findings[0].shown[0].path
    assert path is not None
    assert [send.attempt for send in path.sends] == ["p0-1/1"]
    assert [(entry.partition, entry.offset) for entry in path.entries] == [(1, 456)]
    assert [effect.position for effect in path.effects] == ["812", "2033"]
    assert small_report.findings[0].refutes == ("exactly-once payments → ledger",)


def test_timeline_has_all_lanes(small_report: Report) -> None:
    line = small_report.timeline
    assert [lane.producer for lane in line.producers] == ["producer-0"]
    assert sum(line.producers[0].rate) * line.bin_seconds == pytest.approx(3, abs=0.2)
    assert [lane.subject for lane in line.brokers] == ["broker-1"]
    assert [len(lane.lives) for lane in line.pipeline] == [2]
    assert line.batches[0].batches[0].executions == 2
    assert (line.batches[0].batches[0].planned_at, line.batches[0].batches[0].done_at) == (11, 15)
    assert [(mark.kind, mark.at) for mark in line.hazards] == [("replayed-batch", 14.5)]
    assert [(mark.kind, mark.at) for mark in line.findings] == [("duplicate-output", 15.0)]


def test_long_silence_is_an_outage(small: SimpleNamespace) -> None:
    history = small.history()
    at = [10.0, 10.2, 10.4, 15.4, 15.6]
    send = {"record": "r", "digest": "d", "topic": "t", "outcome": "ok", "session": "x"}
    history["sends"] = small.arrow(
        "sends",
        [
            send | {"attempt": str(a), "ordinal": 0, "called_at": 0, "returned_at": small.ns(a)}
            for a in at
        ],
    )
    lanes = build(small.record(), history, EMPTY).timeline.producers
    lane = next(lane for lane in lanes if lane.producer == "x")
    assert [(o.start, o.end) for o in lane.outages] == [(10.4, 15.4)]


@pytest.mark.parametrize("history", [{}, {n: t.schema.empty_table() for n, t in TABLES.items()}])
def test_builds_report_of_an_empty_history(
    small: SimpleNamespace, history: dict[str, object]
) -> None:
    report = build(small.record(), history, EMPTY)
    assert report.headline == "No claim was judged."
    assert report.verdict is None
    assert any("no phase was recorded" in note for note in report.notes)


def test_builds_report_of_an_interrupted_run(small: SimpleNamespace) -> None:
    history = small.history()
    for name in ("log", "effects", "positions", "ranges", "hazards"):
        history[name] = TABLES[name].schema.empty_table()
    phases = [{"phase": "disturb", "started_at": small.ns(9), "ended_at": None, "outcome": None}]
    history["phases"] = small.arrow("phases", phases)
    fault = {"fault": "1-kill", "kind": "crash", "description": "kill", "injected_at": small.ns(12)}
    history["faults"] = small.arrow("faults", [fault | {"required": True, "took_effect": False}])
    claim = small.judged("exactly-once", Verdict.UNKNOWN, reason="the run was interrupted")
    report = build(
        small.record(), history, Judgement(claims=(claim,), findings=(), mutation_check=())
    )
    assert report.timeline.faults[0].end is None
    assert report.run.seconds is None
    assert "the run was interrupted" in report.headline
    assert any("the last recorded phase is disturb" in note for note in report.notes)


def test_omits_times_of_another_clock(small: SimpleNamespace) -> None:
    history = small.history()
    record: RunRecord = small.record(clock="other boot/monotonic")
    report = build(record, history, small.judgement(history))
    assert report.faults[0].injected_at is None
    assert report.timeline.hazards == ()
    assert any("timed by a clock other than" in note for note in report.notes)


def test_large_run_makes_a_small_report(small: SimpleNamespace) -> None:
    history = small.history()
    sends = [
        {"attempt": f"r{i}/1", "record": f"r{i}", "digest": "d", "ordinal": i, "topic": "payments"}
        | {"session": f"producer-{i % 20}/1", "outcome": "ok", "called_at": small.ns(i / 300)}
        | {"returned_at": small.ns(i / 300 + 0.1)}
        for i in range(20_000)
    ]
    hazard = {"hazard": "retried-send", "hop": "produce", "detail": "x" * 400}
    history["sends"] = small.arrow("sends", sends)
    history["hazards"] = small.arrow(
        "hazards", [hazard | {"at": small.ns(i / 300)} for i in range(5_000)]
    )
    long_names = [f"{i}-" + "y" * 5_000 for i in range(500)]
    history["effects"] = small.arrow(
        "effects",
        [
            {"sink": "ledger", "view": "table", "record": name, "effect_key": "", "digest": "d"}
            | {"position": f"{name}{place}", "ordinal": place, "batch": 7}
            for name in long_names
            for place in range(20)
        ],
    )
    judgement = Judgement(
        claims=(small.judged("exactly-once", Verdict.VIOLATED, refuted_by=("duplicate-output",)),),
        findings=(small.duplicates(history, long_names),),
        mutation_check=(),
    )
    report = build(small.record(), history, judgement)
    assert len(report.model_dump_json()) < 2_200_000
    assert report.findings[0].count == 500
    assert len(report.timeline.producers) == 12
    assert sum(lane.acknowledged for lane in report.timeline.producers) == 20_000
    assert sum(mark.count for mark in report.timeline.hazards) == 5_000
