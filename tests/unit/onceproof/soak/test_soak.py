"""`onceproof soak`: watched resources, kept runs and reasons to stop."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.checkers import Verdict
from onceproof.commands import soak as command
from onceproof.exit_codes import worst
from onceproof.reports.build import build
from onceproof.soak import watch
from onceproof.soak.kept import SoakResults
from onceproof.soak.watch import Reading, growth, read, trouble
from tests.unit.reports.conftest import run_record, small_history, small_judgement

MIB = 2**20
CALM = Reading(memory=300 * MIB, processes=1, threads=9, files=20, left_over=0, free=50 * 2**30)


def readings(field: str, values: list[int]) -> list[Reading]:
    return [replace(CALM, **{field: value}) for value in values]


DESCRIPTIONS = {
    "memory": "the memory of this process",
    "processes": "the number of processes of onceproof",
    "threads": "the number of threads of this process",
    "files": "the number of open files of this process",
    "left_over": "the number of processes that runs left behind",
}

# Watched resources.


@pytest.mark.parametrize(
    ("field", "step"),
    [("memory", 80 * MIB), ("processes", 1), ("threads", 3), ("files", 5), ("left_over", 1)],
)
def test_steady_growth_is_reported(field: str, step: int) -> None:
    start = getattr(CALM, field)
    found = growth(readings(field, [start + step * n for n in range(12)]))
    assert found is not None
    assert found.startswith(f"stopping: {DESCRIPTIONS[field]} grew from ")
    assert "over 12 runs" in found


def test_memory_growth_is_reported_in_mib() -> None:
    found = growth(readings("memory", [100 * MIB] * 6 + [400 * MIB] * 4))
    assert found is not None
    assert "memory of this process grew from 100 MiB to 400 MiB over 10 runs" in found


@pytest.mark.parametrize(
    "values",
    [
        [1] * 9 + [5],  # only once
        [1] * 6 + [5, 5, 5, 1],  # drops back
        [1, 1, 9, 9, 9, 9, 9, 9, 9, 9],  # constant after the warm-up
        [1, 1, 1, 1, 1, 4, 4, 4, 4, 4],  # only within the baseline
        [1, 2, 3, 4, 5, 6],  # too few readings
    ],
)
def test_growth_that_stops_is_ignored(values: list[int]) -> None:
    assert growth(readings("processes", values)) is None


def test_small_memory_growth_is_ignored() -> None:
    assert growth(readings("memory", [300 * MIB + 10 * MIB * n for n in range(12)])) is None


def test_low_disk_space_is_reported_immediately(tmp_path: Path) -> None:
    low = readings("free", [3 * 2**30])
    found = trouble(low, least_free=5 * 2**30, folder=tmp_path)
    assert found is not None
    assert f"the disk of {tmp_path} has 3.0 GiB free, less than the required 5.0 GiB" in found
    assert trouble(low, least_free=2 * 2**30, folder=tmp_path) is None


def test_read_measures_this_process(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.memory > 10 * MIB
    assert found.processes >= 1
    assert min(found.threads, found.files, found.free) > 0


# Kept runs.


@pytest.fixture
def outcome(tmp_path: Path) -> Any:
    """Create outcomes of runs, with their folders."""
    history = small_history()
    small_report = build(run_record(), history, small_judgement(history))

    def make(code: int, *verdicts: tuple[Verdict, bool]) -> Any:
        folder = tmp_path / f"run-{len(list(tmp_path.glob('run-*')))}"
        folder.mkdir()
        claims = tuple(
            small_report.claims[0].model_copy(update={"verdict": verdict, "expected": expected})
            for verdict, expected in verdicts
        )
        report = small_report.model_copy(update={"claims": claims})
        return SimpleNamespace(folder=folder, exit_code=code, report=report)

    return make


GOOD, BAD = (Verdict.HOLDS, True), (Verdict.VIOLATED, False)


def test_only_unexpected_run_folders_are_kept(
    tmp_path: Path, outcome: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = SoakResults(tmp_path)
    good, bad, stalled = (
        outcome(0, GOOD),
        outcome(1, GOOD, BAD),
        outcome(4, (Verdict.STALLED, False)),
    )
    for each in (good, bad, stalled):
        kept.add(each, CALM)
    assert kept.conclude(None, interrupted=False, endless=False) == 1
    assert (good.folder.exists(), bad.folder.exists(), stalled.folder.exists()) == (
        False,
        True,
        True,
    )
    printed = capsys.readouterr()
    assert "3 runs, 2 not as expected" in printed.out
    assert f"kept     {bad.folder}" in printed.out
    assert "300 MiB, 1 process, 9 threads, 20 open files, 50 GiB free" in printed.err
    (file,) = tmp_path.glob("soak-*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["exit_code"] for line in lines] == [0, 1, 4]
    assert lines[0]["memory"] == 300 * MIB


def test_keep_all_keeps_expected_runs(tmp_path: Path, outcome: Any) -> None:
    kept = SoakResults(tmp_path, keep_all=True)
    kept.add(good := outcome(0, GOOD), CALM)
    assert good.folder.exists()
    assert kept.conclude(None, interrupted=False, endless=False) == 0


def test_interrupted_run_is_kept_only_if_violated(
    tmp_path: Path, outcome: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = SoakResults(tmp_path)
    undecided, violated = outcome(130, (Verdict.UNKNOWN, False)), outcome(130, BAD)
    kept.add(undecided, CALM, interrupted=True)
    assert not undecided.folder.exists()
    assert kept.conclude(None, interrupted=True, endless=True) == 0
    assert "unexpected" not in capsys.readouterr().out
    kept.add(violated, CALM, interrupted=True)
    assert violated.folder.exists()
    assert kept.conclude(None, interrupted=True, endless=True) == 1
    assert "1 run, 1 not as expected" in capsys.readouterr().out


def test_interrupted_soak_succeeds_only_if_endless(tmp_path: Path, outcome: Any) -> None:
    kept = SoakResults(tmp_path)
    kept.add(outcome(0, GOOD), CALM)
    assert kept.conclude(None, interrupted=True, endless=True) == 0
    assert kept.conclude(None, interrupted=True, endless=False) == 130
    assert kept.conclude("stopping: it grew", interrupted=False, endless=True) == 3


def test_long_table_lists_only_unexpected_runs(
    tmp_path: Path, outcome: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = SoakResults(tmp_path)
    for _ in range(61):
        kept.add(outcome(0, GOOD), CALM)
    kept.add(outcome(1, BAD), CALM)
    capsys.readouterr()
    kept.conclude(None, interrupted=False, endless=False)
    printed = capsys.readouterr().out
    assert "violated (unexpected)" in printed
    assert "holds" not in printed
    assert "62 runs, 1 not as expected" in printed


# `soak` itself.


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, outcome: Any) -> list[tuple[str, int]]:
    """Scenario and seed of every run; the runs themselves are faked."""
    started: list[tuple[str, int]] = []

    def run(scenario: Any, seed: int, *_: Any) -> Any:
        started.append((scenario.name, seed))
        return outcome(0, GOOD)

    monkeypatch.setattr(command, "_run", run)
    monkeypatch.setattr(command, "prepared_for", lambda *_: lambda _: None)
    return started


def test_each_seed_runs_every_scenario(
    tmp_path: Path, runs: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "read", lambda _: CALM)
    names = ["control-nothing-sent", "control-idle-crash"]
    assert command.soak(names, runs=2, seed=5, out=tmp_path / "new") == 0
    assert runs == [(name, seed) for seed in (5, 6) for name in names]


def test_endless_soak_stops_when_processes_grow(
    tmp_path: Path,
    runs: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "read", lambda _: replace(CALM, processes=len(runs)))
    assert command.soak(["control-nothing-sent"], runs=0, seed=1, out=tmp_path) == 3
    assert len(runs) == 10
    assert (
        "stopping: the number of processes of onceproof grew from 6 to 7" in capsys.readouterr().err
    )


def test_full_disk_prevents_start(
    tmp_path: Path, runs: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "free_bytes", lambda _: watch.LEAST_FREE - 1)
    assert command.soak([], runs=1, seed=1, out=tmp_path) == 3
    assert runs == []


def test_unknown_scenario_is_refused(tmp_path: Path, runs: list[tuple[str, int]]) -> None:
    assert command.soak(["nonsense"], runs=1, seed=1, out=tmp_path) == 2
    assert runs == []


def test_worst_exit_code_is_returned() -> None:
    assert [worst(codes) for codes in ([], [0, 0], [0, 5, 4], [5, 3], [3, 1], [1, 130])] == [
        0, 0, 4, 3, 1, 130
    ]  # fmt: skip
