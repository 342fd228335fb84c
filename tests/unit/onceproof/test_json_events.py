"""`--json-events`: every event is a line, as it comes, and no run depends on who reads them."""

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
def story(tmp_path: Path) -> list[events.Event]:
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
        events.Judged(at=at, judgement=judged),
        events.ReportWritten(at=at, html=folder / "report.html", json=folder / "report.json"),
        events.RunEnded(at=at, folder=folder, exit_code=1, seconds=3.0, message=None),
    ]


def tell(story: list[events.Event], code: int = 1) -> Callable[[Stream], int]:
    def do(stream: Stream) -> int:
        for event in story:
            for handler in stream.handlers:
                handler(event)
        print("the result")
        return code

    return do


def test_every_event_is_a_line(story: list[events.Event], tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    assert streamed("run", str(file), tell(story)) == 1
    lines = [json.loads(text) for text in file.read_text().splitlines()]
    assert [line["event"] for line in lines] == [
        "stream-began", "run-began", "phase-began", "process", "phase-ended", "progress", "fault",
        "hazard", "finding", "judged", "report", "run-ended", "stream-ended",
    ]  # fmt: skip
    assert lines[0]["format"] == "onceproof-events/1"
    assert lines[0]["command"] == "run"
    assert {line["run"] for line in lines[1:-1]} == {"a-run"}
    assert [line["seconds"] for line in lines[1:6]] == [0, 1, 1, 2, 2]
    assert lines[5]["acknowledged"] == 5
    assert lines[8]["anomaly"] == "duplicate-output"
    assert lines[8]["count"] == 1
    assert "b has 2 effects" in lines[8]["sentences"][0]
    (claim,) = lines[9]["claims"]
    assert (claim["verdict"], claim["refuted_by"]) == ("violated", ["duplicate-output"])
    assert lines[-1]["exit_code"] == 1


def test_no_kind_of_event_is_forgotten(story: list[events.Event]) -> None:
    assert {type(event) for event in story} == set(events.Event.__subclasses__())
    where = {"at": "then", "run": "r", "seconds": 0.0}
    for event in story:
        (*_, line) = lines_of(event, where)
        told = set(type(line).model_fields) | {"json", "judgement", "at", "seconds", "folder"}
        assert {field.name for field in fields(event)} <= told


def test_every_line_is_as_published(story: list[events.Event], tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    streamed("run", str(file), tell(story))
    for text in file.read_text().splitlines():
        assert LINES.validate_json(text).model_dump(by_alias=True, mode="json") == json.loads(text)
    trial = Trial(scenario="s", title="t", subject="x", kinds=(), backend="local")
    for line in (trial_line(trial, began=True), trial_line(trial, began=False)):
        assert type(line) in get_args(get_args(AnyLine)[0])
    assert json.loads(line.model_dump_json())["state"] == State.WAITING


def test_page_and_schema_are_up_to_date() -> None:
    assert (REFERENCE / PAGE).read_text() == page(), "run: make reference"
    assert (REFERENCE / SCHEMA).read_text() == schema_text(), "run: make reference"


def test_nobody_wants_any(story: list[events.Event], capsys: pytest.CaptureFixture[str]) -> None:
    assert streamed("run", None, tell(story, 0)) == 0
    assert capsys.readouterr().out == "the result\n"


def test_standard_output_has_nothing_else(
    story: list[events.Event], capfd: pytest.CaptureFixture[str]
) -> None:
    assert streamed("run", "-", tell(story)) == 1
    print("behind it")
    out, err = capfd.readouterr()
    assert all(json.loads(line)["event"] for line in out.splitlines()[:-1])
    assert out.splitlines()[-1] == "behind it"
    assert err == "the result\n"


def test_a_line_is_there_when_it_has_happened(story: list[events.Event], tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"

    def do(stream: Stream) -> int:
        for handler in stream.handlers:
            handler(story[0])
        deadline = time.monotonic() + 60
        while "run-began" not in file.read_text():
            assert time.monotonic() < deadline
        return 0

    assert streamed("run", str(file), do) == 0


def test_the_last_line_says_how_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"

    def fails(_: Stream) -> int:
        raise OSError(28, "No space left on device")

    with pytest.raises(SystemExit) as left:
        streamed("run", str(file), fails)
    assert left.value.code == 3
    assert json.loads(file.read_text().splitlines()[-1])["exit_code"] == 3


def test_a_reader_that_leaves_does_no_harm(
    story: list[events.Event], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}).readline()"])

    def do(stream: Stream) -> int:
        reader.wait(60)
        return tell(story, 0)(stream)

    assert streamed("run", str(pipe), do) == 0
    err = capsys.readouterr().err
    assert err.count("events are no longer written to") == 1
    assert "Broken pipe" in err


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as left:
        streamed("run", str(tmp_path / "nix" / "events.jsonl"), lambda _: 0)
    assert left.value.code == 3


@pytest.mark.parametrize(
    ("words", "body"),
    [
        (["run"], "onceproof.commands.run._run_and_sum_up"),
        (["verify", "--output", "x", "--", "true"], "onceproof.commands.verify._dry_run_and_trial"),
        (["soak"], "onceproof.commands.soak.chosen"),
        (["matrix"], "onceproof.commands.matrix.named"),
    ],
)
def test_the_commands_that_take_it(
    words: list[str], body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(*_: Any) -> int:
        raise OSError(5, "as a test wants it")

    monkeypatch.setattr(body, leave)
    file = tmp_path / "events.jsonl"
    command, *rest = words
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
def test_the_last_line_has_the_code_of_the_command(
    tmp_path: Path, error: type[BaseException], code: int
) -> None:
    def fail(stream: Stream) -> int:
        raise error

    file = tmp_path / "events.jsonl"
    with pytest.raises((error, SystemExit)):
        streamed("run", str(file), fail)
    assert json.loads(file.read_text().splitlines()[-1])["exit_code"] == code
