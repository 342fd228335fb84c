"""A matrix in progress, with short programs instead of runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from onceproof.checkers import Verdict
from onceproof.ci import BuildServer
from onceproof.harness.history.run_record import RunRecord
from onceproof.harness.processes.side_by_side import Job
from onceproof.harness.tools.versions import code
from onceproof.harness.wait import Stop
from onceproof.matrix import under_way
from onceproof.matrix.budget import Budget
from onceproof.matrix.earlier import records
from onceproof.matrix.first_to_run import order_by_coverage
from onceproof.matrix.plan import Planned, plan
from onceproof.matrix.under_way import MatrixRun
from onceproof.reports.runs.trial import Backend, State
from tests.unit.onceproof.matrix.test_matrix import named, write_run

LEAVES_A_RUN = "import shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2])"
CRASHES = "raise SystemExit('it went wrong')"
FOREVER = "import time\nwhile True: time.sleep(60)"


class Programs:
    """Programs that replace the runs of planned places."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: dict[str, Job] = {}

    def leave_run(self, place: Planned, out: Path, **more: Any) -> None:
        prepared = write_run(self.folder, place, name=place.name, versions={"code": code()}, **more)
        self.set_program(place, LEAVES_A_RUN, str(prepared), str(out / place.name))

    def set_program(self, place: Planned, program: str, *arguments: str) -> None:
        command = (sys.executable, "-c", program, *arguments)
        self.jobs[place.name] = Job(name=place.name, command=command, seconds=100)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    found = Programs(tmp_path / "prepared")
    monkeypatch.setattr(Planned, "job", lambda self, _: found.jobs[self.name])
    return found


@pytest.fixture
def places() -> tuple[Planned, ...]:
    names = ("control-fault-without-effect", "control-idle-crash", "control-nothing-sent")
    return plan([named(name) for name in names], ["local"], 7)


def matrix(
    out: Path,
    places: tuple[Planned, ...],
    stop: Stop | None = None,
    *,
    budget: Budget | None = None,
    junit: Path | None = None,
    started: Callable[[Job], object] | None = None,
) -> MatrixRun:
    class ObservedMatrixRun(MatrixRun):
        def _started(self, job: Job) -> None:
            if started:
                started(job)
            else:
                super()._started(job)

    return ObservedMatrixRun(
        planned=places,
        backends=(Backend(name="local"),),
        seed=7,
        out=out,
        at_once=1,
        scope="Three",
        repeat="again",
        stop=stop or Stop(),
        budget=budget or Budget(None),
        server=BuildServer(junit, environ={}),
    )


def states(run: MatrixRun) -> list[State]:
    return [trial.state for trial in run.trials.values()]


def test_crash_is_reported_and_other_runs_continue(
    tmp_path: Path, places: tuple[Planned, ...], programs: Programs
) -> None:
    first, second, third = places
    programs.leave_run(first, tmp_path)
    programs.set_program(second, CRASHES)
    programs.leave_run(third, tmp_path)
    run = matrix(tmp_path, places)
    run.execute()
    assert states(run) == [State.RUN, State.FAILED, State.RUN]
    assert run.conclude() == 3
    page = (tmp_path / "matrix.html").read_text()
    assert "2 of 3 runs as expected" in page
    assert "ended early with exit code 1 and last output: it went wrong" in page


def test_snapshot_merges_versions_of_all_runs(
    tmp_path: Path, places: tuple[Planned, ...], programs: Programs
) -> None:
    for place in places:
        programs.leave_run(place, tmp_path)
    run = matrix(tmp_path, places)
    run.execute()
    oldest = list(records(tmp_path))[-1]
    record = RunRecord.load(oldest)
    changes = {"image of broker-1": "kafka:4", "pyspark": "old"}
    record.model_copy(update={"versions": record.versions | changes}).save(oldest)
    rerun = matrix(tmp_path, places)
    rerun.execute()
    versions = rerun.snapshot().versions
    assert (versions["image of broker-1"], versions["code"]) == ("kafka:4", code())
    place = next(iter(records(tmp_path)))
    newest = RunRecord.load(place)
    newest.model_copy(update={"versions": newest.versions | {"pyspark": "new"}}).save(place)
    rerun.execute()
    assert rerun.snapshot().versions["pyspark"] == "new"


def test_interrupted_matrix_resumes(
    tmp_path: Path,
    places: tuple[Planned, ...],
    programs: Programs,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second, third = places
    programs.leave_run(first, tmp_path)
    programs.set_program(second, FOREVER)
    programs.set_program(third, CRASHES)
    stop = Stop()
    run = matrix(
        tmp_path, places, stop, started=lambda job: job.name == second.name and stop.set("told")
    )
    run.execute()
    assert states(run) == [State.RUN, State.WAITING, State.WAITING]
    assert run.conclude() == 130
    assert "1 of 3 runs as expected, 2 not run" in (tmp_path / "matrix.html").read_text()

    programs.leave_run(second, tmp_path, verdict=Verdict.UNEXERCISED)
    programs.leave_run(third, tmp_path)
    programs.set_program(first, CRASHES)
    capsys.readouterr()
    resumed = matrix(tmp_path, places)
    resumed.execute()
    assert states(resumed) == [State.REUSED, State.RUN, State.RUN]
    assert resumed.conclude() == 0
    printed = capsys.readouterr()
    assert "2 runs to do, 1 in parallel; 1 reused" in printed.err
    assert f"reused   {first.scenario.name} on local: {tmp_path / first.name}" in printed.err
    assert printed.out.startswith("All 3 runs as expected\n")


def test_runs_beyond_the_budget_are_left_out_and_reported(
    tmp_path: Path,
    places: tuple[Planned, ...],
    programs: Programs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(under_way, "order_by_coverage", tuple)
    first, second, third = places
    for place in places:
        programs.leave_run(place, tmp_path)
    times = iter([0.0, 0.0, first.scenario.seconds * 1.0, first.scenario.seconds * 1.0])
    enough = first.scenario.seconds + third.scenario.seconds
    assert second.scenario.seconds > third.scenario.seconds
    run = matrix(tmp_path, places, budget=Budget(enough, clock=lambda: next(times)))
    run.execute()
    assert states(run) == [State.RUN, State.LEFT_OUT, State.RUN]
    assert run.conclude() == 0
    assert "no time was left" in (tmp_path / "matrix.html").read_text()


def test_budget_orders_runs_by_coverage_but_not_the_page(
    tmp_path: Path, places: tuple[Planned, ...], programs: Programs
) -> None:
    for place in places:
        programs.leave_run(place, tmp_path)
    run = matrix(tmp_path, places, budget=Budget(1_000, clock=lambda: 0.0))
    started: list[str] = []
    run.hear = lambda trial, begins: started.append(trial.scenario) if begins else None
    run.execute()
    names = [place.scenario.name for place in places]
    assert started == [place.scenario.name for place in order_by_coverage(places)] != names
    assert [trial.scenario for trial in run.snapshot().trials] == names


def test_junit_file_is_updated_after_each_run(
    tmp_path: Path,
    places: tuple[Planned, ...],
    programs: Programs,
) -> None:
    first, second, third = places
    programs.leave_run(first, tmp_path)
    programs.set_program(second, CRASHES)
    programs.leave_run(third, tmp_path, verdict=Verdict.VIOLATED)
    junit = tmp_path / "junit.xml"
    counts: list[tuple[str | None, str | None]] = []

    def started(_: Job) -> None:
        root = ElementTree.parse(junit).getroot()
        counts.append((root.get("errors"), root.get("failures")))

    run = matrix(tmp_path, places, junit=junit, started=started)
    run.execute()
    run.conclude()
    started(next(iter(programs.jobs.values())))
    # A run that has not ended counts as an error.
    assert counts == [("3", "0"), ("2", "0"), ("2", "0"), ("1", "1")]
    text = junit.read_text()
    assert "last output: it went wrong" in text
    assert f"onceproof run {second.scenario.name} --seed 7" in text


def test_full_disk_prevents_all_runs(
    tmp_path: Path,
    places: tuple[Planned, ...],
    programs: Programs,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for place in places:
        programs.set_program(place, CRASHES)
    monkeypatch.setattr(under_way, "free_bytes", lambda _: 1)
    run = matrix(tmp_path, places)
    run.execute()
    assert states(run) == [State.WAITING] * 3
    assert run.conclude() == 130
    assert "GiB free, less than the required" in capsys.readouterr().err
