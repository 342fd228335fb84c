"""Executors found among the processes of a driver's session, and what the driver says of them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.executors import Executors
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.targets.spark_executors import SparkExecutors
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.run_context import Collected
from onceproof.harness.stage.base import StageTrouble
from onceproof.harness.stage.processes import Process, Processes
from onceproof.harness.stage.sweep import new_marker
from onceproof.harness.wait import Stop, wait_until
from tests.unit.harness.made_up_driver import AnyDriver

SECONDS = 20.0
BACKEND = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
DRIVER = """
import subprocess, sys, time
def executor(number):
    wait = "import time; time.sleep(300)"
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
    made = Processes(new_marker(), tmp_path)
    yield made
    made.kill_all("the test is over")


def world(processes: Processes, executors: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    driver: Process = processes.start(
        "driver", [sys.executable, "-c", DRIVER, BACKEND, str(executors)]
    )
    wait_until(lambda: "up" in driver.log.read_text(), what="the driver", seconds=SECONDS)
    monkeypatch.setattr(
        "onceproof.harness.faults.targets.spark_executors.wait_reads", lambda context: None
    )
    seen: list[tuple[str, str]] = []
    return SimpleNamespace(
        pipeline=AnyDriver(process=driver, checkpoint=SimpleNamespace(query_id=lambda: "a-query")),
        recorder=SimpleNamespace(hazard=lambda name, *, detail, **_: seen.append((name, detail))),
        seen=seen,
        stop=Stop(),
    )


@pytest.mark.parametrize(
    ("which", "left", "lost"), [("executor", {1, 2}, 1), ("executors", {2, 3}, 2)]
)
def test_others_take_their_place(
    processes: Processes, monkeypatch: pytest.MonkeyPatch, which: str, left: set[int], lost: int
) -> None:
    context = world(processes, 2, monkeypatch)
    wait_until(lambda: len(Executors(context).found()) == 2, what="executors", seconds=SECONDS)
    fault = asked("kill", [which]).inject(context, "x")
    proof = wait_until(fault.evidence, what="others", seconds=SECONDS)
    assert "ended with code 137, as Spark tells" in proof
    fault.heal()
    fault.heal()
    fault.after_collect(Collected(returned={}))
    assert set(Executors(context).found()) == left
    ((hazard, detail),) = context.seen
    assert hazard == "retried-task"
    assert detail.startswith(f"{lost} tasks were lost with executor 0"), "others are not ours"


def test_one_that_ended_otherwise_proves_nothing(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = world(processes, 1, monkeypatch)
    wait_until(lambda: Executors(context).found(), what="an executor", seconds=SECONDS)
    monkeypatch.setattr(
        "onceproof.harness.faults.targets.spark_executors.sigkill",
        lambda pid: os.kill(pid, signal.SIGTERM),
    )
    fault = Kill(SparkExecutors()).inject(context, "x")
    told = Executors(context)
    wait_until(lambda: set(told.found()) == {1}, what="another", seconds=SECONDS)
    wait_until(
        lambda: "exited with code 143" in told.process.log.read_text(), what="its end",
        seconds=SECONDS,
    )  # fmt: skip
    assert fault.evidence() is None


def test_without_executors(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    context = world(processes, 0, monkeypatch)
    with pytest.raises(StageTrouble, match="driver#1 has no processes for executors"):
        Kill(SparkExecutors()).inject(context, "x")
    with pytest.raises(UnknownFault, match="cannot pause executor: expected kill"):
        asked("pause", ["executor"])
