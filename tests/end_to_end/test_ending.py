"""However a run ends: nothing stays behind, and what was recorded can be judged."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path

import pytest

from onceproof.harness.wait import wait_until
from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import Started, onceproof

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TWIN = "spark-foreachbatch-postgres-unguarded"


def start(runs: Path, scenario: str = TWIN) -> Started:
    return Started("run", scenario, "--seed", "3", "--out", runs)


def nothing_stays(run: Started) -> None:
    # Of an idle machine ten seconds are expected; this one may be at something else as well.
    wait_until(
        lambda: not run.processes(),
        what="every process of the run to be gone",
        seconds=60,
        seen=run.processes,
    )
    marker = f"onceproof-{run.popen.pid}-"

    def data() -> list[Path]:
        there = [run.folder / "work"] if (run.folder / "work").exists() else []
        return there + [p for p in Path(tempfile.gettempdir()).iterdir() if marker in p.name]

    wait_until(lambda: not data(), what="the stage's data to be gone", seconds=60, seen=data)


@pytest.mark.parametrize(
    "moment",
    [
        *(pytest.param(f"phase +{p}", marks=LATER) for p in ("arrange", "warm-up")),
        "leader killed injected",
    ],
)
def test_sigkill_of_the_harness(runs, moment):
    run = start(runs)
    run.wait_for(moment)
    run.send(signal.SIGKILL)
    run.popen.wait(60)
    nothing_stays(run)
    done = onceproof("check", run.folder)
    assert done.code == 5, done.err
    assert set(done.verdicts().values()) == {"unknown"}
    assert "The harness ended in phase" in done.report["claims"][0]["reason"]


@pytest.mark.parametrize(
    ("moment", "sig"),
    [
        ("phase +arrange", signal.SIGINT),
        ("phase +disturb", signal.SIGTERM),
        pytest.param("phase +arrange", signal.SIGTERM, marks=LATER),
        pytest.param("phase +warm-up", signal.SIGINT, marks=LATER),
        pytest.param("phase +warm-up", signal.SIGTERM, marks=LATER),
        pytest.param("phase +disturb", signal.SIGINT, marks=LATER),
    ],
)
def test_interruption(runs, moment, sig):
    run = start(runs)
    run.wait_for(moment)
    run.send(sig)
    nothing_stays(run)
    done = run.finish()
    assert done.code == 130
    assert set(done.verdicts().values()) == {"unknown"}
    assert "interrupted in phase" in done.report["claims"][0]["reason"]
    again = onceproof("check", run.folder)
    assert again.code == 5
    assert again.verdicts() == done.verdicts()


@LATER
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_the_run_is_judged(runs, sig):
    run = start(runs)
    run.wait_for("phase +tear-down")
    wait_until(
        lambda: not list((run.folder / "history").glob("*.jsonl")),
        what="the history to be sealed",
        seconds=60,
        every=0.01,
    )
    run.send(sig)
    done = run.finish()
    nothing_stays(run)
    assert done.code == 130, done.err
    assert f"interrupted while judging {run.folder}" in done.err
    assert onceproof("check", run.folder).verdicts()["exactly-once payments → ledger"] == "violated"


def test_a_second_interruption_leaves_the_rest_to_the_reaper(runs):
    run = start(runs)
    run.wait_for("phase +warm-up")
    run.send(signal.SIGINT)
    run.wait_for("stopping the run")  # two at once would be one
    run.send(signal.SIGINT)
    assert run.popen.wait(60) == -signal.SIGINT
    nothing_stays(run)


@LATER
def test_two_runs_side_by_side_do_not_disturb_each_other(runs):
    first = start(runs, "control-idle-crash")
    second = start(runs, "control-idle-crash")
    for run in (first, second):
        done = run.finish()
        assert done.code == 0, done.err
        assert set(done.verdicts().values()) == {"unexercised"}
        nothing_stays(run)
