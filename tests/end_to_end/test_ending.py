"""However a run ends, nothing remains and its history can be judged."""

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


def assert_nothing_remains(run: Started) -> None:
    # Ten seconds suffice on an idle machine; this one may be busy.
    wait_until(
        lambda: not run.processes(),
        what="every process of the run to be gone",
        seconds=60,
        seen=run.processes,
    )
    marker = f"onceproof-{run.popen.pid}-"

    def data() -> list[Path]:
        work = [run.folder / "work"] if (run.folder / "work").exists() else []
        return work + [p for p in Path(tempfile.gettempdir()).iterdir() if marker in p.name]

    wait_until(lambda: not data(), what="the stage's data to be gone", seconds=60, seen=data)


@pytest.mark.parametrize(
    "moment",
    [
        *(pytest.param(f"phase +{p}", marks=LATER) for p in ("arrange", "warm-up")),
        "leader killed injected",
    ],
)
def test_killed_harness_leaves_nothing_and_unknown_verdicts(runs, moment):
    run = start(runs)
    run.wait_for(moment)
    run.send(signal.SIGKILL)
    run.popen.wait(60)
    assert_nothing_remains(run)
    done = onceproof("check", run.folder)
    assert done.code == 5, done.err
    assert set(done.verdicts().values()) == {"unknown"}
    assert "The harness ended in phase" in done.report["claims"][0]["reason"]


@pytest.mark.parametrize(
    ("moment", "sig"),
    [
        ("phase +arrange", signal.SIGINT),
        pytest.param("phase +disturb", signal.SIGTERM, marks=LATER),
        pytest.param("phase +arrange", signal.SIGTERM, marks=LATER),
        pytest.param("phase +warm-up", signal.SIGINT, marks=LATER),
        pytest.param("phase +warm-up", signal.SIGTERM, marks=LATER),
        pytest.param("phase +disturb", signal.SIGINT, marks=LATER),
    ],
)
def test_interrupted_run_leaves_nothing_and_unknown_verdicts(runs, moment, sig):
    run = start(runs)
    run.wait_for(moment)
    run.send(sig)
    assert_nothing_remains(run)
    done = run.finish()
    assert done.code == 130
    assert set(done.verdicts().values()) == {"unknown"}
    assert "interrupted in phase" in done.report["claims"][0]["reason"]
    checked = onceproof("check", run.folder)
    assert checked.code == 5
    assert checked.verdicts() == done.verdicts()


@LATER
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_interruption_during_judging_leaves_a_judgeable_history(runs, sig):
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
    assert_nothing_remains(run)
    assert done.code == 130, done.err
    assert f"interrupted while judging {run.folder}" in done.err
    assert onceproof("check", run.folder).verdicts()["exactly-once payments → ledger"] == "violated"


def test_second_interrupt_ends_the_run_at_once(runs):
    run = start(runs)
    run.wait_for("phase +warm-up")
    run.send(signal.SIGINT)
    run.wait_for("stopping the run")  # two pending signals would be delivered as one
    run.send(signal.SIGINT)
    assert run.popen.wait(60) == -signal.SIGINT
    assert_nothing_remains(run)


@LATER
def test_concurrent_runs_do_not_interfere(runs):
    first = start(runs, "control-idle-crash")
    second = start(runs, "control-idle-crash")
    for run in (first, second):
        done = run.finish()
        assert done.code == 0, done.err
        assert set(done.verdicts().values()) == {"unexercised"}
        assert_nothing_remains(run)
