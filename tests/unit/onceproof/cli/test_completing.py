"""Shell completion: the offered words, and silence on errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.cli import completing
from onceproof.cli.words import ChoiceOf
from onceproof.harness.faults.by_hand import by_hand
from onceproof.scenarios import all_scenarios
from tests.unit.onceproof.run_folders import record


def candidates(offers: list[tuple[str, str]]) -> list[str]:
    return [word for word, _ in offers]


def test_names_are_completed() -> None:
    names = [scenario.name for scenario in all_scenarios()]
    assert candidates(completing.scenarios("")) == names
    assert candidates(completing.scenarios("spark-k")) == [
        n for n in names if n.startswith("spark-k")
    ]
    assert "duplicate-output" in candidates(completing.anomalies("dup"))
    assert candidates(completing.faults("")) == list(by_hand())
    assert candidates(completing.backends("d")) == ["docker"]
    assert ChoiceOf("gentle", "brutal").complete("b") == ["brutal"]


def test_run_folders_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path / "runs", "20260101T000000Z-a-1")
    record(tmp_path / "runs", "20260102T000000Z-b-1")
    record(tmp_path / "other", "20260103T000000Z-c-1")
    (tmp_path / "runs" / "photos").mkdir()
    monkeypatch.chdir(tmp_path)
    newest_first = ["runs/20260102T000000Z-b-1", "runs/20260101T000000Z-a-1"]
    assert candidates(completing.run_folders("")) == newest_first
    assert candidates(completing.run_folders("runs/20260102")) == newest_first[:1]
    assert candidates(completing.run_folders("other/")) == ["other/20260103T000000Z-c-1"]
    absolute = str(tmp_path / "other" / "2026")
    assert candidates(completing.run_folders(absolute)) == [f"{absolute}0103T000000Z-c-1"]


def test_error_completes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("as a test wants it")

    monkeypatch.setattr("onceproof.catalogue.known", fail)
    assert completing.scenarios("") == []


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("onceproof cl", "clean"),
        ("onceproof run spark-kafka-sin", "spark-kafka-sink"),
        ("onceproof check --engine s", "spark"),
    ],
)
def test_bash_gets_completions(typed: str, offered: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from onceproof.cli import app; app(prog_name='onceproof')"],
        capture_output=True, text=True, timeout=250,
        env={
            **os.environ,
            "_ONCEPROOF_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split()) - 1),
        },
    )  # fmt: skip
    assert done.stdout.split()[:1] == [offered]
    assert done.stderr == ""
