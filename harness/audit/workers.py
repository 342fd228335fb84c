"""Reading in several processes, since Python reads a topic with one core only."""

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
from onceproof.harness.audit.reading import Range, Taken, read_range
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.wait import Stop

_LOOK: Final = 0.5
"""Seconds between two looks at whether to stop."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A range to be read, what is taken from it, and the folder that gets it."""

    of: Range
    take: Taken
    folder: Path


def read_all(
    tasks: Sequence[Task],
    properties: Mapping[str, Any],
    *,
    workers: int,
    read: Callable[[int], None],
    stop: Stop,
) -> bool:
    """Read ranges, the largest first; returns whether all were, before `stop` was set.

    Args:
        read: is called with the number of offsets that were read since it was called last.

    Raises:
        UnreadableCluster, BadRule: a worker ended so, or too early; the others are ended.
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
            for pipe in wait(list(running), _LOOK):
                assert isinstance(pipe, Connection)
                try:
                    _hear(pipe.recv(), read)
                except EOFError:
                    running.pop(pipe).join()
    finally:
        for process in running.values():
            process.terminate()
            process.join()
    return not stop.is_set() and _all_read(tasks)


def _all_read(tasks: Sequence[Task]) -> bool:
    """See that nothing is missing, however workers ended: a gap would look like a loss.

    Raises:
        UnreadableCluster: something is.
    """
    for task in tasks:
        at = reached(task.folder, task.of.partition, task.of.first)
        if at < task.of.last:
            raise UnreadableCluster(
                f"{task.of.topic}-{task.of.partition}: the process that read it ended at offset "
                f"{at}, before {task.of.last}; see whether memory or disk was short, and resume"
            )
    return True


def _hear(message: object, read: Callable[[int], None]) -> None:
    if isinstance(message, Exception):
        raise message
    assert isinstance(message, int)
    read(message)


def _work(task: Task, properties: dict[str, Any], pipe: Connection) -> None:
    """Read one range in a process of its own, which ends when nobody hears it any more."""
    threading.Thread(target=_end_with_parent, args=(pipe,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the keyboard, which reaches all; we end it
    gc.disable()  # nothing here refers to itself, and looking for that takes a tenth of the time
    try:
        read_range(task.of, task.take, task.folder, properties, pipe.send)
    except (UnreadableCluster, BadRule) as error:
        pipe.send(type(error)(str(error)))
    except OSError as error:
        pipe.send(UnreadableCluster(f"{task.folder} cannot be written: {error}"))
    finally:
        pipe.close()


def _end_with_parent(pipe: Connection) -> None:
    """Nobody sends anything through this end, so it can be read only when the other end is gone."""
    wait([pipe])
    os._exit(1)
