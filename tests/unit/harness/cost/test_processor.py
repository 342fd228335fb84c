"""Processor time of a process."""

from __future__ import annotations

import os
import subprocess
import threading
import time

import pytest

from onceproof.harness.cost.processor import processor_seconds


def test_own_time_is_that_of_the_interpreter() -> None:
    before = time.process_time()
    told = processor_seconds(os.getpid())
    assert before <= told <= time.process_time()


def test_threads_that_ended_are_counted() -> None:
    def work() -> None:
        until = time.thread_time() + 0.02
        while time.thread_time() < until:
            pass

    before = processor_seconds(os.getpid())
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert processor_seconds(os.getpid()) >= before + 0.02


def test_ended_process_has_none() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    with pytest.raises(OSError, match="Invalid argument"):
        processor_seconds(ended.pid)
