"""Makes a small finished run whose claim holds or is violated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onceproof.checkers import exactly_once
from onceproof.checkers.claims_json import claim_to_json
from onceproof.checkers.promised import PHASES
from onceproof.harness.history.folder import RunFolder
from onceproof.harness.history.run_record import RunRecord, Step, Written
from onceproof.harness.history.writer import HistoryWriter

CLOCK = "boot/CLOCK_MONOTONIC"
CLAIM = exactly_once("payments", into="ledger", view="table")
RECORDS, PARTITIONS = 40, 2
_STEP = Step(fault="driver killed", kind="crash", when="at half", do="SIGKILL", until="restarted")


def make_run(
    runs: Path,
    *,
    duplicated: bool = False,
    sealed: bool = True,
    phases: Sequence[str] = PHASES,
) -> Path:
    """Write the lines of a run as its writers do, and seal them.

    Args:
        runs: the parent of the run folder.
        duplicated: whether one effect is duplicated, which violates the claim.
        sealed: whether the lines are sealed into tables.
        phases: the successful phases.
    """
    folder = RunFolder.create(runs, "fuzzed", 7)
    folder.work.rmdir()
    _record(folder).save(folder.path)
    _write(folder, duplicated=duplicated, phases=phases)
    (folder.logs / "driver.1.log").write_text("2026-01-01 00:00:00,000 INFO it began\n")
    if sealed:
        folder.seal()
    return folder.path


def _record(folder: RunFolder) -> RunRecord:
    return RunRecord(
        run=folder.path.name,
        scenario="fuzzed",
        title="A run of a few records",
        seed=7,
        repeat="onceproof run fuzzed --seed 7",
        started_at="2026-01-01T00:00:00+00:00",
        clock=CLOCK,
        monotonic_ns=0,
        wall_ns=1_767_225_600_000_000_000,
        host={"cores": "2"},
        versions={"onceproof": "0"},
        subject="copy",
        subject_says="It copies.",
        workload={"records": RECORDS},
        configuration={"backend": "local"},
        schedule=[_STEP],
        claims=[claim_to_json(CLAIM)],
        written=Written(
            records=RECORDS,
            logs={"payments": PARTITIONS},
            in_bytes=[],
            positions=True,
            expected={"ledger": RECORDS},
            contributions={},
        ),
    )


def _write(folder: RunFolder, *, duplicated: bool, phases: Sequence[str]) -> None:
    harness = HistoryWriter(folder.history, "harness")
    workload = HistoryWriter(folder.history, "workload")
    auditor = HistoryWriter(folder.history, "auditor")
    sender = HistoryWriter(folder.history, "producer-0")
    for writer in (harness, workload, auditor, sender):
        writer.write("clocks", writer=writer.writer, clock=CLOCK, monotonic_ns=1, wall_ns=2)
    for number, phase in enumerate(phases):
        harness.write(
            "phases", phase=phase, started_at=number, ended_at=number + 1, outcome="ok", clock=CLOCK
        )
    for life in ("driver#1", "driver#2", "producer-0#1", "broker-1#1"):
        harness.write(
            "instances", subject=life[:-2], instance=life, started_at=1, ended_at=9,
            how="torn down", clock=CLOCK,
        )  # fmt: skip
    harness.write(
        "faults", fault=_STEP.fault, kind="crash", description="SIGKILL", target="driver#1",
        required=True, armed_at=3, injected_at=3, healed_at=4, took_effect=True,
        evidence="it is gone", clock=CLOCK,
    )  # fmt: skip
    harness.write(
        "hazards", hazard="replayed-batch", hop="process", at=4, clock=CLOCK, fault=_STEP.fault,
        detail="batch 1 ran again", owner="q", batch=1,
    )  # fmt: skip
    rows = [_row(number) for number in range(RECORDS)]
    for row in rows:
        sender.write("called", **row["send"])
        sender.write("returned", **row["returned"])
    sender.close()
    workload.write_all("expected", [row["expected"] for row in rows])
    if "collect" in phases:
        _collect(auditor, rows, duplicated=duplicated)
    for writer in (harness, workload, auditor):
        writer.close()


def _collect(auditor: HistoryWriter, rows: Sequence[dict[str, Any]], *, duplicated: bool) -> None:
    auditor.write_all("log", [row["log"] for row in rows])
    effects = [row["effect"] for row in rows]
    if duplicated:
        effects.append({**effects[7], "position": "row 999", "ordinal": 999})
    auditor.write_all("effects", effects)
    end = RECORDS // PARTITIONS
    for partition in range(PARTITIONS):
        where = {"topic": "payments", "partition": partition}
        auditor.write(
            "partitions", **where, log_start=0, last_stable_offset=end, high_watermark=end,
            cleanup_policy="delete",
        )  # fmt: skip
        for batch, (start, stop) in enumerate(((0, end // 2), (end // 2, end))):
            auditor.write(
                "positions", owner="q", instance="driver#1", role="resume", kind="done",
                by="subject", **where, offset=stop, batch=batch, ordinal=batch, at=5, clock=CLOCK,
            )  # fmt: skip
            auditor.write(
                "ranges", owner="q", execution="e", batch=batch, **where, start_offset=start,
                end_offset=stop, committed=True, source="progress",
            )  # fmt: skip


def _row(number: int) -> dict[str, Any]:
    """One record, from its send to its effect."""
    record, attempt = f"p0-{number:04}", f"producer-0/1/{number}"
    where = {"topic": "payments", "partition": number % PARTITIONS, "offset": number // PARTITIONS}
    content = {"record": record, "attempt": attempt, "key": f"k{number % 5}", "digest": f"{number}"}
    return {
        "send": {**content, "ordinal": number, "session": "producer-0/1", "topic": "payments",
                 "called_at": 100 + number, "clock": CLOCK},
        "returned": {"attempt": attempt, "outcome": "ok", "returned_at": 101 + number,
                     "partition": where["partition"], "offset": where["offset"]},
        "log": {**where, **content, "kind": "data", "producer_id": 1, "epoch": 0,
                "sequence": number // PARTITIONS, "committed": True},
        "expected": {"sink": "ledger", "record": record, "effect_key": "", "digest": f"e{number}"},
        "effect": {"sink": "ledger", "view": "table", "record": record, "effect_key": "",
                   "digest": f"e{number}", "position": f"row {number}", "ordinal": number,
                   "source_topic": "payments", "source_partition": where["partition"],
                   "source_offset": where["offset"], "owner": "q",
                   "batch": int(where["offset"] >= RECORDS // PARTITIONS // 2)},
    }  # fmt: skip
