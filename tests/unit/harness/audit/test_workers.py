"""Reading in processes: one that ends too early never passes for one that has read everything."""

from __future__ import annotations

import multiprocessing
import threading
import time
from pathlib import Path

import pytest

from onceproof.harness.audit.cluster import UnreadableCluster
from onceproof.harness.audit.parts import Parts
from onceproof.harness.audit.reading import Range, Taken
from onceproof.harness.audit.workers import Task, read_all
from onceproof.harness.user_pipeline.effects import Yield
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.wait import Stop

NOBODY = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}


def task(folder: Path, partition: int = 0) -> Task:
    return Task(
        of=Range(topic="t", partition=partition, first=0, last=9, isolation="read_committed"),
        take=Taken(identity=Rule(kind="key"), yields=Yield()),
        folder=folder,
    )


def read(folder: Path, stop: Stop) -> bool:
    return read_all([task(folder)], NOBODY, workers=1, read=lambda _: None, stop=stop)


def once_it_runs(act: object) -> None:
    def wait() -> None:
        while not (children := multiprocessing.active_children()):
            time.sleep(0.01)
        act(children[0])  # type: ignore[operator]

    threading.Thread(target=wait, daemon=True).start()


def test_one_that_is_killed_is_told(tmp_path: Path) -> None:
    once_it_runs(lambda child: child.kill())
    with pytest.raises(UnreadableCluster, match="t-0: the process that reads it ended at offset 0"):
        read(tmp_path, Stop())


def test_a_stop_ends_them_all(tmp_path: Path) -> None:
    stop = Stop()
    once_it_runs(lambda _: stop.set("test"))
    assert not read(tmp_path, stop)
    assert multiprocessing.active_children() == []


def test_what_was_read_before_is_not_read_again(tmp_path: Path) -> None:
    Parts(folder=tmp_path, partition=0, first=0).write(9)
    assert read(tmp_path, Stop())
