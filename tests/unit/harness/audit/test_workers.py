"""Reading partitions in worker processes."""

from __future__ import annotations

import multiprocessing
import threading
import time
from pathlib import Path

import pytest

from onceproof.harness.audit.cluster import UnreadableCluster
from onceproof.harness.audit.parts import Parts
from onceproof.harness.audit.reading import Extraction, Range
from onceproof.harness.audit.workers import Task, read_all
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.wait import Stop

UNREACHABLE = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}


def task(folder: Path, partition: int = 0) -> Task:
    return Task(
        of=Range(topic="t", partition=partition, first=0, last=9, isolation="read_committed"),
        take=Extraction(identity=Rule(kind="key"), yields=ExpectedEffects()),
        folder=folder,
    )


def read(folder: Path, stop: Stop) -> bool:
    return read_all([task(folder)], UNREACHABLE, workers=1, read=lambda _: None, stop=stop)


def when_a_worker_runs(act: object) -> None:
    def wait() -> None:
        while not (children := multiprocessing.active_children()):
            time.sleep(0.01)
        act(children[0])  # type: ignore[operator]

    threading.Thread(target=wait, daemon=True).start()


def test_killed_worker_is_an_error(tmp_path: Path) -> None:
    when_a_worker_runs(lambda child: child.kill())
    with pytest.raises(UnreadableCluster, match="t-0: the process that reads it ended at offset 0"):
        read(tmp_path, Stop())


def test_stop_ends_all_workers(tmp_path: Path) -> None:
    stop = Stop()
    when_a_worker_runs(lambda _: stop.set("test"))
    assert not read(tmp_path, stop)
    assert multiprocessing.active_children() == []


def test_range_already_read_is_skipped(tmp_path: Path) -> None:
    Parts(folder=tmp_path, partition=0, first=0).write(9)
    assert read(tmp_path, Stop())
