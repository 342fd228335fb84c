"""`--json-events`: one line per event, written at once; readers cannot disturb the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from onceproof.cli import app
from onceproof.harness.clock import now
from onceproof.harness.history import events
from onceproof.harness.run.judge import judge
from onceproof.json_events import Stream, streamed
from onceproof.reports.event_lines.lines import lines_of, trial_line
from onceproof.reports.event_lines.model import LINES, AnyLine
from onceproof.reports.event_lines.page import PAGE, SCHEMA, page, schema_text
from onceproof.reports.runs.trial import State, Trial
from tests.unit.onceproof.run_folders import finished

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


@pytest.fixture
def run_events(tmp_path: Path) -> list[events.Event]:
    """One event of each kind, in the order of a run."""
    judged = judge(finished(tmp_path / "judged")).judgement
    at, folder = now(), tmp_path / "a-run"
    return [
        events.RunStarted(at=at, run="a-run", folder=folder, scenario="s", title="It.", seed=7),
        events.PhaseStarted(at=at + 10**9, phase="arrange"),
        events.InstanceChanged(at=at + 10**9, instance="broker-1#1", state="started"),
        events.PhaseEnded(
            at=at + 2 * 10**9, phase="arrange", outcome="ok", detail=None, seconds=1.0
        ),
        events.Progress(at=at + 2 * 10**9, acknowledged=5, total=10, pipeline="batch 1"),
        events.FaultChanged(
            at=at, fault="cut", kind="partition", state="took effect", detail="it did"
        ),
        events.HazardObserved(at=at, hazard="replayed-batch", detail="again"),
        events.NoteWritten(at=at, text="the leader moved"),
        events.Judged(at=at, judgement=judged),
        events.ReportWritten(at=at, html=folder / "report.html", json=folder / "report.json"),
        events.RunEnded(at=at, folder=folder, exit_code=1, seconds=3.0, message=None),
    ]


def emit(run_events: list[events.Event], code: int = 1) -> Callable[[Stream], int]:
    def run(stream: Stream) -> int:
        for event in run_events:
            for handler in stream.handlers:
                handler(event)
        print("the result")
        return code

    return run


def test_every_event_is_written_as_a_line(run_events: list[events.Event], tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    assert streamed("run", str(file), emit(run_events)) == 1
    lines = [json.loads(text) for text in file.read_text().splitlines()]
    assert [line["event"] for line in lines] == [
        "stream-began", "run-began", "phase-began", "process", "phase-ended", "progress", "fault",
        "hazard", "note", "finding", "judged", "report", "run-ended", "stream-ended",
    ]  # fmt: skip
    assert lines[0]["format"] == "onceproof-events/1"
    assert lines[0]["command"] == "run"
    assert {line["run"] for line in lines[1:-1]} == {"a-run"}
    assert [line["seconds"] for line in lines[1:6]] == [0, 1, 1, 2, 2]
    assert lines[5]["acknowledged"] == 5
    assert lines[9]["anomaly"] == "duplicate-output"
    assert lines[9]["count"] == 1
    assert "b has 2 effects" in lines[9]["sentences"][0]
    (claim,) = lines[10]["claims"]
    assert (claim["verdict"], claim["refuted_by"]) == ("violated", ["duplicate-output"])
    assert lines[-1]["exit_code"] == 1


def test_lines_keep_all_fields_of_every_event_type(run_events: list[events.Event]) -> None:
    assert {type(event) for event in run_events} == set(events.Event.__subclasses__())
    common = {"at": "then", "run": "r", "seconds": 0.0}
    for event in run_events:
        (*_, line) = lines_of(event, common)
        known = set(type(line).model_fields) | {"json", "judgement", "at", "seconds", "folder"}
        assert {field.name for field in fields(event)} <= known


def test_lines_match_published_model(run_events: list[events.Event], tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    streamed("run", str(file), emit(run_events))
    for text in file.read_text().splitlines():
        assert LINES.validate_json(text).model_dump(by_alias=True, mode="json") == json.loads(text)
    trial = Trial(scenario="s", title="t", subject="x", kinds=(), backend="local")
    for line in (trial_line(trial, began=True), trial_line(trial, began=False)):
        assert type(line) in get_args(get_args(AnyLine)[0])
    assert json.loads(line.model_dump_json())["state"] == State.WAITING


def test_page_and_schema_are_up_to_date() -> None:
    assert (REFERENCE / PAGE).read_text() == page(), "run: make reference"
    assert (REFERENCE / SCHEMA).read_text() == schema_text(), "run: make reference"


def test_without_target_only_the_result_is_printed(
    run_events: list[events.Event], capsys: pytest.CaptureFixture[str]
) -> None:
    assert streamed("run", None, emit(run_events, 0)) == 0
    assert capsys.readouterr().out == "the result\n"


def test_events_on_stdout_move_other_output_to_stderr(
    run_events: list[events.Event], capfd: pytest.CaptureFixture[str]
) -> None:
    assert streamed("run", "-", emit(run_events)) == 1
    print("behind it")
    out, err = capfd.readouterr()
    assert all(json.loads(line)["event"] for line in out.splitlines()[:-1])
    assert out.splitlines()[-1] == "behind it"
    assert err == "the result\n"


def test_lines_are_flushed_immediately(run_events: list[events.Event], tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"

    def run(stream: Stream) -> int:
        for handler in stream.handlers:
            handler(run_events[0])
        deadline = time.monotonic() + 60
        while "run-began" not in file.read_text():
            assert time.monotonic() < deadline
        return 0

    assert streamed("run", str(file), run) == 0


def test_full_disk_is_recorded_in_last_line(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"

    def fail(_: Stream) -> int:
        raise OSError(28, "No space left on device")

    with pytest.raises(SystemExit) as excinfo:
        streamed("run", str(file), fail)
    assert excinfo.value.code == 3
    assert json.loads(file.read_text().splitlines()[-1])["exit_code"] == 3


def test_run_survives_reader_that_closes_the_pipe(
    run_events: list[events.Event], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}).readline()"])

    def run(stream: Stream) -> int:
        reader.wait(60)
        return emit(run_events, 0)(stream)

    assert streamed("run", str(pipe), run) == 0
    err = capsys.readouterr().err
    assert err.count("events are no longer written to") == 1
    assert "Broken pipe" in err


def test_unwritable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as excinfo:
        streamed("run", str(tmp_path / "nix" / "events.jsonl"), lambda _: 0)
    assert excinfo.value.code == 3


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        (["run"], "onceproof.commands.run._run_and_sum_up"),
        (["verify", "--output", "x", "--", "true"], "onceproof.commands.verify._dry_run_and_trial"),
        (["soak"], "onceproof.commands.soak.chosen"),
        (["matrix"], "onceproof.commands.matrix.named"),
    ],
)
def test_command_writes_events(
    arguments: list[str], target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> int:
        raise OSError(5, "as a test wants it")

    monkeypatch.setattr(target, fail)
    file = tmp_path / "events.jsonl"
    command, *rest = arguments
    done = CliRunner().invoke(app, ["--config", "none", command, "--json-events", str(file), *rest])
    assert done.exit_code == 3
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["event"], line.get("command")) for line in lines] == [
        ("stream-began", command),
        ("stream-ended", None),
    ]


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt, 130), (ZeroDivisionError, 3), (OSError, 3)]
)
def test_last_line_has_exit_code_of_error(
    tmp_path: Path, error: type[BaseException], code: int
) -> None:
    def fail(stream: Stream) -> int:
        raise error

    file = tmp_path / "events.jsonl"
    with pytest.raises((error, SystemExit)):
        streamed("run", str(file), fail)
    assert json.loads(file.read_text().splitlines()[-1])["exit_code"] == code
