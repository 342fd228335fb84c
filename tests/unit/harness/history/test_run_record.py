"""The run record: saved atomically, loaded, and refused when damaged."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from onceproof.harness.history.run_record import RUN_FILE, RunRecord, Step, UnreadableRun

RECORD = RunRecord(
    run="20261101T000000Z-flagship-7",
    scenario="flagship",
    title="«Zahlungen» → ledger",
    seed=7,
    repeat="onceproof run flagship --seed 7",
    started_at="2026-11-01T00:00:00+00:00",
    clock="boot/CLOCK_MONOTONIC",
    monotonic_ns=2**62,
    wall_ns=2**62 + 1,
    host={"cores": "2"},
    versions={"kafka": "4.2.0"},
    subject="spark-kafka-sink",
    subject_says="It promises at-least-once.",
    workload={"records": 20_000},
    configuration={"brokers": {"min.insync.replicas": 2}},
    schedule=[
        Step(
            fault="a",
            kind="crash",
            when="at once",
            do="kill it",
            until="took_effect",
            required=False,
        )
    ],
    claims=[{"guarantee": "exactly-once", "expect": None}],
)


def test_round_trip(tmp_path: Path) -> None:
    RECORD.save(tmp_path)
    assert RunRecord.load(tmp_path) == RECORD


def test_save_leaves_no_temporary_file(tmp_path: Path) -> None:
    RECORD.save(tmp_path)
    RECORD.save(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [RUN_FILE]


def test_failed_save_keeps_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RECORD.save(tmp_path)
    write = Path.write_text

    def half(self: Path, text: str) -> int:
        write(self, text[: len(text) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match="No space left"):
        RECORD.model_copy(update={"seed": 8}).save(tmp_path)
    assert RunRecord.load(tmp_path) == RECORD


def changed(**fields: object) -> str:
    return json.dumps(json.loads(RECORD.model_dump_json()) | fields)


def without(field: str) -> str:
    kept = json.loads(RECORD.model_dump_json())
    del kept[field]
    return json.dumps(kept)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[1, 2]", "the whole file: Input should be"),
        ("null", "the whole file: "),
        (changed(seed="seven"), "seed: Input should be a valid integer"),
        (changed(format="onceproof-run/2"), "format: Input should be 'onceproof-run/1'"),
        (changed(colour="red"), "colour: Extra inputs are not permitted"),
        (changed(schedule=[{"fault": "a"}]), "schedule.0.kind: Field required"),
        (without("claims"), "claims: Field required"),
    ],
)
def test_damaged_record_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / RUN_FILE
    path.write_text(text)
    with pytest.raises(UnreadableRun, match=re.escape(message)) as error:
        RunRecord.load(tmp_path)
    assert str(path) in str(error.value)
    assert "restore it from a copy" in str(error.value)


def test_record_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / RUN_FILE).write_bytes(b'{"run": "\xff"}')
    with pytest.raises(UnreadableRun, match="is not JSON"):
        RunRecord.load(tmp_path)


def test_folder_without_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRun, match="is not a run folder") as error:
        RunRecord.load(tmp_path)
    assert str(tmp_path) in str(error.value)
    assert "onceproof run" in str(error.value)


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRun, match="is not a run folder"):
        RunRecord.load(tmp_path / "nowhere")


def test_file_instead_of_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.touch()
    with pytest.raises(UnreadableRun, match="is a file; a run is a folder"):
        RunRecord.load(path)


def test_folder_instead_of_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / RUN_FILE).mkdir()
    with pytest.raises(UnreadableRun):
        RunRecord.load(tmp_path)
