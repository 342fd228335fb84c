"""A soak: what it keeps, what it watches, when it stops."""

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
from onceproof.soak.kept import Kept
from onceproof.soak.watch import Reading, growth, read, trouble
from tests.unit.reports.conftest import run_record, small_history, small_judgement

MIB = 2**20
CALM = Reading(memory=300 * MIB, processes=1, threads=9, files=20, left_over=0, free=50 * 2**30)


def readings(field: str, values: list[int]) -> list[Reading]:
    return [replace(CALM, **{field: value}) for value in values]


WORDS = {
    "memory": "the memory of this process",
    "processes": "the number of processes of onceproof",
    "threads": "the number of threads of this process",
    "files": "the number of open files of this process",
    "left_over": "the number of processes that runs left behind",
}

# What is watched.


@pytest.mark.parametrize(
    ("field", "step"),
    [("memory", 80 * MIB), ("processes", 1), ("threads", 3), ("files", 5), ("left_over", 1)],
)
def test_what_grows_run_after_run_is_told(field: str, step: int) -> None:
    start = getattr(CALM, field)
    found = growth(readings(field, [start + step * n for n in range(12)]))
    assert found is not None
    assert found.startswith(f"stopping: {WORDS[field]} grew from ")
    assert "over 12 runs" in found


def test_a_figure_in_words() -> None:
    found = growth(readings("memory", [100 * MIB] * 6 + [400 * MIB] * 4))
    assert found is not None
    assert "memory of this process grew from 100 MiB to 400 MiB over 10 runs" in found


@pytest.mark.parametrize(
    "values",
    [
        [1] * 9 + [5],  # once
        [1] * 6 + [5, 5, 5, 1],  # and back again
        [1, 1, 9, 9, 9, 9, 9, 9, 9, 9],  # from the first real run on
        [1, 1, 1, 1, 1, 4, 4, 4, 4, 4],  # within the first that are compared
        [1, 2, 3, 4, 5, 6],  # too few to tell
    ],
)
def test_what_does_not_go_on_growing_is_noise(values: list[int]) -> None:
    assert growth(readings("processes", values)) is None


def test_memory_may_rise_a_little() -> None:
    assert growth(readings("memory", [300 * MIB + 10 * MIB * n for n in range(12)])) is None


def test_a_disk_that_runs_low_stops_it_at_once(tmp_path: Path) -> None:
    low = readings("free", [3 * 2**30])
    found = trouble(low, least_free=5 * 2**30, folder=tmp_path)
    assert found is not None
    assert f"the disk of {tmp_path} has 3.0 GiB free, less than the required 5.0 GiB" in found
    assert trouble(low, least_free=2 * 2**30, folder=tmp_path) is None


def test_a_reading_of_this_process(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.memory > 10 * MIB
    assert found.processes >= 1
    assert min(found.threads, found.files, found.free) > 0


# What is kept.


@pytest.fixture
def outcome(tmp_path: Path) -> Any:
    """Makes outcomes of runs whose folders lie there."""
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


def test_only_what_was_unexpected_stays(
    tmp_path: Path, outcome: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = Kept(tmp_path)
    good, bad, late = outcome(0, GOOD), outcome(1, GOOD, BAD), outcome(4, (Verdict.STALLED, False))
    for each in (good, bad, late):
        kept.add(each, CALM)
    assert kept.conclude(None, interrupted=False, endless=False) == 1
    assert (good.folder.exists(), bad.folder.exists(), late.folder.exists()) == (False, True, True)
    told = capsys.readouterr()
    assert "3 runs, 2 not as expected" in told.out
    assert f"kept     {bad.folder}" in told.out
    assert "300 MiB, 1 process, 9 threads, 20 open files, 50 GiB free" in told.err
    (file,) = tmp_path.glob("soak-*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["exit_code"] for line in lines] == [0, 1, 4]
    assert lines[0]["memory"] == 300 * MIB


def test_all_may_stay(tmp_path: Path, outcome: Any) -> None:
    kept = Kept(tmp_path, keep_all=True)
    kept.add(good := outcome(0, GOOD), CALM)
    assert good.folder.exists()
    assert kept.conclude(None, interrupted=False, endless=False) == 0


def test_what_was_broken_off_stays_only_if_it_proves_something(
    tmp_path: Path, outcome: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = Kept(tmp_path)
    nothing, proof = outcome(130, (Verdict.UNKNOWN, False)), outcome(130, BAD)
    kept.add(nothing, CALM, interrupted=True)
    assert not nothing.folder.exists()
    assert kept.conclude(None, interrupted=True, endless=True) == 0
    assert "unexpected" not in capsys.readouterr().out
    kept.add(proof, CALM, interrupted=True)
    assert proof.folder.exists()
    assert kept.conclude(None, interrupted=True, endless=True) == 1
    assert "1 run, 1 not as expected" in capsys.readouterr().out


def test_who_is_told_to_stop_has_done_its_work_only_without_an_end(
    tmp_path: Path, outcome: Any
) -> None:
    kept = Kept(tmp_path)
    kept.add(outcome(0, GOOD), CALM)
    assert kept.conclude(None, interrupted=True, endless=True) == 0
    assert kept.conclude(None, interrupted=True, endless=False) == 130
    assert kept.conclude("stopping: it grew", interrupted=False, endless=True) == 3


def test_a_table_of_very_many_runs_has_only_the_unexpected(
    tmp_path: Path, outcome: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = Kept(tmp_path)
    for _ in range(61):
        kept.add(outcome(0, GOOD), CALM)
    kept.add(outcome(1, BAD), CALM)
    capsys.readouterr()
    kept.conclude(None, interrupted=False, endless=False)
    told = capsys.readouterr().out
    assert "violated (unexpected)" in told
    assert "holds" not in told
    assert "62 runs, 1 not as expected" in told


# The command.


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, outcome: Any) -> list[tuple[str, int]]:
    """What is run, without running it."""
    made: list[tuple[str, int]] = []

    def run(scenario: Any, seed: int, *_: Any) -> Any:
        made.append((scenario.name, seed))
        return outcome(0, GOOD)

    monkeypatch.setattr(command, "_run", run)
    monkeypatch.setattr(command, "prepared", lambda _: None)
    return made


def test_new_seeds_and_each_scenario_with_each(
    tmp_path: Path, runs: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "read", lambda _: CALM)
    names = ["control-nothing-sent", "control-idle-crash"]
    assert command.soak(names, runs=2, seed=5, out=tmp_path / "new") == 0
    assert runs == [(name, seed) for seed in (5, 6) for name in names]


def test_without_an_end_it_stops_when_something_of_it_grows(
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


def test_it_does_not_begin_on_a_full_disk(
    tmp_path: Path, runs: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "free_bytes", lambda _: watch.LEAST_FREE - 1)
    assert command.soak([], runs=1, seed=1, out=tmp_path) == 3
    assert runs == []


def test_a_scenario_that_there_is_not(tmp_path: Path, runs: list[tuple[str, int]]) -> None:
    assert command.soak(["nonsense"], runs=1, seed=1, out=tmp_path) == 2
    assert runs == []


def test_one_exit_code_for_many_runs() -> None:
    assert [worst(codes) for codes in ([], [0, 0], [0, 5, 4], [5, 3], [3, 1], [1, 130])] == [
        0, 0, 4, 3, 1, 130
    ]  # fmt: skip
