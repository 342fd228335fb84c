"""Read in several processes, since a Python process uses only one core."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from onceproof.harness.audit.cluster import UnreadableCluster
from onceproof.harness.audit.parts import reached
from onceproof.harness.audit.reading import Extraction, Range, read_range
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.wait import Stop

_POLL_INTERVAL: Final = 0.5
"""Seconds between checks of `stop`."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A range to read, what to extract from it, and the folder to write to."""

    of: Range
    take: Extraction
    folder: Path


def read_all(
    tasks: Sequence[Task],
    properties: Mapping[str, Any],
    *,
    workers: int,
    read: Callable[[int], None],
    stop: Stop,
) -> bool:
    """Read ranges, largest first, with `read` as in `read_range`.

    Return False if `stop` was set before all were read.

    Raises:
        UnreadableCluster: a worker raised it or ended too early; the others are terminated.
        BadRule: a worker raised it; the others are terminated.
    """
    context = multiprocessing.get_context("spawn")
    waiting = sorted(tasks, key=lambda task: task.of.last - task.of.first)
    running: dict[Connection, BaseProcess] = {}
    try:
        while (waiting or running) and not stop.is_set():
            while waiting and len(running) < workers:
                ours, theirs = context.Pipe()
                process: BaseProcess = context.Process(
                    target=_work, args=(waiting.pop(), dict(properties), theirs), daemon=True
                )
                process.start()
                theirs.close()
                running[ours] = process
            for pipe in wait(list(running), _POLL_INTERVAL):
                assert isinstance(pipe, Connection)
                try:
                    _handle(pipe.recv(), read)
                except EOFError:
                    running.pop(pipe).join()
    finally:
        for process in running.values():
            process.terminate()
            process.join()
    return not stop.is_set() and _all_read(tasks)


def _all_read(tasks: Sequence[Task]) -> bool:
    """Check that every range was read completely: a gap would look like lost records."""
    for task in tasks:
        at = reached(task.folder, task.of.partition, task.of.first)
        if at < task.of.last:
            raise UnreadableCluster(
                f"{task.of.topic}-{task.of.partition}: the process that reads it ended at offset "
                f"{at}, before {task.of.last}; check memory and disk space, then resume the audit"
            )
    return True


def _handle(message: object, read: Callable[[int], None]) -> None:
    if isinstance(message, Exception):
        raise message
    assert isinstance(message, int)
    read(message)


def _work(task: Task, properties: dict[str, Any], pipe: Connection) -> None:
    """Read one range in a child process, which exits when its parent does."""
    threading.Thread(target=_end_with_parent, args=(pipe,), daemon=True).start()
    # Ctrl-C reaches the whole process group; the parent terminates its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # there are no reference cycles, and searching for them takes 10 % of the time
    try:
        read_range(task.of, task.take, task.folder, properties, pipe.send)
    except (UnreadableCluster, BadRule) as error:
        pipe.send(type(error)(str(error)))
    except OSError as error:
        pipe.send(UnreadableCluster(f"{task.folder} cannot be written: {error}"))
    finally:
        pipe.close()


def _end_with_parent(pipe: Connection) -> None:
    """Exit when the parent's end closes: it never sends, so the pipe is readable only then."""
    wait([pipe])
    os._exit(1)
