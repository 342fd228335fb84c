"""A matrix under way, with programs of a line or two in place of runs."""

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
from tests.unit.onceproof.matrix.test_matrix import kept, named

LEAVES_A_RUN = "import shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2])"
CRASHES = "raise SystemExit('it went wrong')"
FOREVER = "import time\nwhile True: time.sleep(60)"


class Programs:
    """What runs in place of each place, and which were run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: dict[str, Job] = {}

    def leaves_a_run(self, place: Planned, out: Path, **more: Any) -> None:
        prepared = kept(self.folder, place, name=place.name, versions={"code": code()}, **more)
        self.does(place, LEAVES_A_RUN, str(prepared), str(out / place.name))

    def does(self, place: Planned, program: str, *arguments: str) -> None:
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
    class Heard(MatrixRun):
        def _started(self, job: Job) -> None:
            if started:
                started(job)
            else:
                super()._started(job)

    return Heard(
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


def test_what_crashes_is_told_and_the_others_are_run(
    tmp_path: Path, places: tuple[Planned, ...], programs: Programs
) -> None:
    first, second, third = places
    programs.leaves_a_run(first, tmp_path)
    programs.does(second, CRASHES)
    programs.leaves_a_run(third, tmp_path)
    run = matrix(tmp_path, places)
    run.execute()
    assert states(run) == [State.RUN, State.FAILED, State.RUN]
    assert run.conclude() == 3
    page = (tmp_path / "matrix.html").read_text()
    assert "2 of 3 runs as expected" in page
    assert "ended early with exit code 1 and last output: it went wrong" in page


def test_what_only_some_runs_ran_on_is_told_too(
    tmp_path: Path, places: tuple[Planned, ...], programs: Programs
) -> None:
    for place in places:
        programs.leaves_a_run(place, tmp_path)
    run = matrix(tmp_path, places)
    run.execute()
    oldest = list(records(tmp_path))[-1]
    record = RunRecord.load(oldest)
    more = {"image of broker-1": "kafka:4", "pyspark": "old"}
    record.model_copy(update={"versions": record.versions | more}).save(oldest)
    again = matrix(tmp_path, places)
    again.execute()
    told = again.snapshot().versions
    assert (told["image of broker-1"], told["code"]) == ("kafka:4", code())
    place = next(iter(records(tmp_path)))
    newest = RunRecord.load(place)
    newest.model_copy(update={"versions": newest.versions | {"pyspark": "new"}}).save(place)
    again.execute()
    assert again.snapshot().versions["pyspark"] == "new"


def test_what_was_broken_off_goes_on_where_it_was(
    tmp_path: Path,
    places: tuple[Planned, ...],
    programs: Programs,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second, third = places
    programs.leaves_a_run(first, tmp_path)
    programs.does(second, FOREVER)
    programs.does(third, CRASHES)
    stop = Stop()
    run = matrix(
        tmp_path, places, stop, started=lambda job: job.name == second.name and stop.set("told")
    )
    run.execute()
    assert states(run) == [State.RUN, State.WAITING, State.WAITING]
    assert run.conclude() == 130
    assert "1 of 3 runs as expected, 2 not run" in (tmp_path / "matrix.html").read_text()

    programs.leaves_a_run(second, tmp_path, verdict=Verdict.UNEXERCISED)
    programs.leaves_a_run(third, tmp_path)
    programs.does(first, CRASHES)
    capsys.readouterr()
    again = matrix(tmp_path, places)
    again.execute()
    assert states(again) == [State.REUSED, State.RUN, State.RUN]
    assert again.conclude() == 0
    told = capsys.readouterr()
    assert "2 runs to do, 1 in parallel; 1 reused" in told.err
    assert f"reused   {first.scenario.name} on local: {tmp_path / first.name}" in told.err
    assert told.out.startswith("All 3 runs as expected\n")


def test_what_does_not_fit_into_the_time_is_left_out_and_told(
    tmp_path: Path,
    places: tuple[Planned, ...],
    programs: Programs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(under_way, "order_by_coverage", tuple)
    first, second, third = places
    for place in places:
        programs.leaves_a_run(place, tmp_path)
    times = iter([0.0, 0.0, first.scenario.seconds * 1.0, first.scenario.seconds * 1.0])
    enough = first.scenario.seconds + third.scenario.seconds
    assert second.scenario.seconds > third.scenario.seconds
    run = matrix(tmp_path, places, budget=Budget(enough, clock=lambda: next(times)))
    run.execute()
    assert states(run) == [State.RUN, State.LEFT_OUT, State.RUN]
    assert run.conclude() == 0
    assert "no time was left" in (tmp_path / "matrix.html").read_text()


def test_within_a_limit_the_most_telling_come_first_and_the_page_stays_in_order(
    tmp_path: Path, places: tuple[Planned, ...], programs: Programs
) -> None:
    for place in places:
        programs.leaves_a_run(place, tmp_path)
    run = matrix(tmp_path, places, budget=Budget(1_000, clock=lambda: 0.0))
    began: list[str] = []
    run.hear = lambda trial, begins: began.append(trial.scenario) if begins else None
    run.execute()
    names = [place.scenario.name for place in places]
    assert began == [place.scenario.name for place in order_by_coverage(places)] != names
    assert [trial.scenario for trial in run.snapshot().trials] == names


def test_a_build_server_hears_of_each_run_as_it_ends(
    tmp_path: Path,
    places: tuple[Planned, ...],
    programs: Programs,
) -> None:
    first, second, third = places
    programs.leaves_a_run(first, tmp_path)
    programs.does(second, CRASHES)
    programs.leaves_a_run(third, tmp_path, verdict=Verdict.VIOLATED)
    junit = tmp_path / "junit.xml"
    heard: list[tuple[str | None, str | None]] = []

    def started(_: Job) -> None:
        root = ElementTree.parse(junit).getroot()
        heard.append((root.get("errors"), root.get("failures")))

    run = matrix(tmp_path, places, junit=junit, started=started)
    run.execute()
    run.conclude()
    started(next(iter(programs.jobs.values())))
    # What has not run is trouble, until it has.
    assert heard == [("3", "0"), ("2", "0"), ("2", "0"), ("1", "1")]
    text = junit.read_text()
    assert "last output: it went wrong" in text
    assert f"onceproof run {second.scenario.name} --seed 7" in text


def test_without_room_on_the_disk_nothing_is_run(
    tmp_path: Path,
    places: tuple[Planned, ...],
    programs: Programs,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for place in places:
        programs.does(place, CRASHES)
    monkeypatch.setattr(under_way, "free_bytes", lambda _: 1)
    run = matrix(tmp_path, places)
    run.execute()
    assert states(run) == [State.WAITING] * 3
    assert run.conclude() == 130
    assert "GiB free, less than the required" in capsys.readouterr().err
