"""Faults of Spark executors, found among the processes of the driver's session."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness.context.run_context import Collected
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.spark.executors import Executors
from onceproof.harness.faults.targets.spark_executors import SparkExecutors
from onceproof.harness.processes.processes import Process, Processes, descendants, stand_still
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.wait import Stop, wait_until
from tests.unit.fakes.pipelines import FakeDriver
from tests.unit.fakes.run_context import FakeContext
from tests.unit.harness.subjects.spark.made_up_checkpoint import entry, plan

SECONDS = 20.0
BACKEND = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
DRIVER = """
import subprocess, sys, time
def executor(number):
    wait = "import subprocess, sys, time;"
    if len(sys.argv) > 3:
        wait += "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)']);"
    wait += "time.sleep(300)"
    words = ["-c", wait, sys.argv[1], "--executor-id", str(number), "--cores", "1"]
    return subprocess.Popen([sys.executable, *words])
def lost(task, number):
    where = f"Lost task {task}.0 in stage 3.0 (TID {task}) (127.0.0.1 executor {number})"
    print(f"{where}: ExecutorLostFailure (executor {number} exited", flush=True)
def ended(number, code):
    print(f"Lost executor {number} on 127.0.0.1: Command exited with code {code}", flush=True)
ended(0, 1)
lost(99, 0)
living = [executor(n) for n in range(int(sys.argv[2]))]
numbers = list(range(len(living)))
print("up", flush=True)
while True:
    for n, one in enumerate(living):
        if (code := one.poll()) is not None:
            was, numbers[n] = numbers[n], max(numbers) + 1
            living[n] = executor(numbers[n])
            lost(was, was)
            lost(was, was)
            lost(50, 7)
            ended(was, 128 - code)
    time.sleep(0.02)
"""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    created = Processes(new_marker(), tmp_path)
    yield created
    created.kill_all("the test is over")


def commit(checkpoint: Checkpoint, batch: int) -> None:
    (checkpoint.folder / "commits" / str(batch)).write_text("v1\n{}")


def new_context(processes: Processes, executors: int, *, worker: bool = False) -> FakeContext:
    """A context whose driver has committed a batch and planned no other."""
    words = [BACKEND, str(executors), *(["with a worker"] if worker else [])]
    driver: Process = processes.start("driver", [sys.executable, "-c", DRIVER, *words])
    wait_until(lambda: "up" in driver.log.read_text(), what="the driver", seconds=SECONDS)
    checkpoint = Checkpoint(driver.log.with_name("checkpoint"))
    checkpoint.create()
    plan(checkpoint, 3, entry({"payments": {"0": 30}}))
    commit(checkpoint, 3)
    return FakeContext(pipeline=FakeDriver(process=driver, checkpoint=checkpoint), stop=Stop())


@pytest.mark.parametrize(("verb", "code"), [("kill", 137), ("stop", 143)])
@pytest.mark.parametrize(
    ("which", "remaining", "lost"), [("executor", {1, 2}, 1), ("executors", {2, 3}, 2)]
)
def test_new_executors_replace_killed_ones(
    processes: Processes, which: str, remaining: set[int], lost: int, verb: str, code: int
) -> None:
    context = new_context(processes, 2)
    wait_until(lambda: len(Executors(context).found()) == 2, what="executors", seconds=SECONDS)
    fault = asked(verb, [which]).inject(context, "x")
    proof = wait_until(fault.evidence, what="others", seconds=SECONDS)
    assert f"exited with code {code}" in proof
    fault.heal()
    fault.heal()
    fault.after_collect(Collected(returned={}))
    assert set(Executors(context).found()) == remaining
    ((hazard, detail),) = context.recorder.seen
    assert hazard == "retried-task"
    assert detail.startswith(f"{lost} tasks were lost with executor 0"), "others are not ours"


def test_no_evidence_for_another_exit_code(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = new_context(processes, 1)
    wait_until(lambda: Executors(context).found(), what="an executor", seconds=SECONDS)
    monkeypatch.setattr(
        "onceproof.harness.faults.targets.spark_executors.send",
        lambda pid, sig: os.kill(pid, signal.SIGTERM),
    )
    fault = Kill(SparkExecutors()).inject(context, "x")
    executors = Executors(context)
    wait_until(lambda: set(executors.found()) == {1}, what="another", seconds=SECONDS)
    wait_until(
        lambda: "exited with code 143" in executors.process.log.read_text(), what="its end",
        seconds=SECONDS,
    )  # fmt: skip
    assert fault.evidence() is None


@pytest.mark.parametrize(("which", "count"), [("executor", 2), ("executors", 4)])
def test_paused_executors_hold_up_a_batch(
    processes: Processes, monkeypatch: pytest.MonkeyPatch, which: str, count: int
) -> None:
    monkeypatch.setattr("onceproof.harness.faults.targets.spark_executors._HELD_UP_SECONDS", 0.3)
    context = new_context(processes, 2, worker=True)
    executors = Executors(context)
    wait_until(
        lambda: [len(descendants(pid)) for pid in executors.found().values()] == [2, 2],
        what="executors with a worker each",
        seconds=SECONDS,
    )
    fault = asked("pause", [which]).inject(context, "x")
    context.producers.acknowledged += 7
    assert fault.evidence() is None, "no time has passed"
    assert isinstance(context.pipeline, FakeDriver)
    checkpoint = context.pipeline.checkpoint
    commit(checkpoint, 4)
    time.sleep(0.4)
    assert fault.evidence() is None, "a batch was committed since"
    context.producers.acknowledged += 5
    time.sleep(0.4)
    assert fault.evidence() is None, "none was planned that would wait"
    plan(checkpoint, 5, entry({"payments": {"0": 60}}))
    proof = fault.evidence()
    assert proof is not None
    assert proof.startswith(f"all {count} processes of executor 0")
    assert "are paused; micro-batch 5 was not committed for 0." in proof
    assert proof.endswith("during which 5 records were acknowledged")
    first = executors.found()[0]
    os.kill(descendants(first)[-1], signal.SIGCONT)
    wait_until(lambda: not stand_still([descendants(first)[-1]]), what="it", seconds=SECONDS)
    assert fault.evidence() is None, "its worker goes on"
    commit(checkpoint, 5)
    fault.heal()
    fault.heal()
    assert not any(stand_still([pid]) for each in executors.found().values() for pid in [each])


def test_rejects_a_driver_without_executors(processes: Processes) -> None:
    context = new_context(processes, 0)
    with pytest.raises(StageTrouble, match="driver#1 has no executor processes"):
        Kill(SparkExecutors()).inject(context, "x")
