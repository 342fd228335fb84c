"""The producers of a run, seen from the harness: progress, pace, statistics.

The one thing to know: pace is a regulator, so that faults never meet an idle pipeline. For every
fault that is not over a share of the workload is kept back; at such a limit the producers slow down
to a trickle. When the last fault is healed, the rest goes out as fast as it can. So the length of a
run follows from its faults and not from a guess, on fast machines and on slow ones.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.stage.processes import Process, Processes
from harness.tools.setup import Tools
from harness.wait import Overdue, Stop, wait_until
from harness.workload.base import Workload
from harness.workload.payments import Payments
from harness.workload.senders.base import Sender
from harness.workload.senders.librdkafka import LIBRDKAFKA
from harness.workload.task_file import SenderTask, save_records

_WARM_UP = 0.1
"""Part of the workload that may be sent before records flow end to end."""
_SHARE = 0.15
"""Part of the workload that is kept for each fault that is not over."""
_SLOW_DOWN = 0.05
"""Part of the workload before a limit in which the producers slow down."""
_TRICKLE = 0.02
"""Part of the rate that goes on beyond a limit: a fault never meets an idle pipeline."""
_REGULATE_EVERY = 0.2


class ProducerTrouble(RuntimeError):
    """A producer ended or stood still; the text says what it said last."""


@dataclass
class Status:
    """What one producer said last."""

    called: int = 0
    ok: int = 0
    not_ok: int = 0
    timeouts: dict[int, int] = field(default_factory=dict)
    done: bool = False

    @property
    def moved(self) -> tuple[int, int, int]:
        """What changes while it gets on."""
        return self.called, self.ok, self.not_ok


class Producers:
    """All producers of one run."""

    def __init__(
        self,
        *,
        workload: Workload,
        seed: int,
        bootstrap: str,
        processes: Processes,
        history: Path,
        work: Path,
        stop: Stop,
        sender: Sender = LIBRDKAFKA,
        tools: Tools | None = None,
    ) -> None:
        self.workload = workload
        self.sender = sender
        self.total = workload.records
        self._processes = processes
        self._tools = tools
        self._stop = stop
        self._warm = threading.Event()
        self._faults_to_come = 0
        self._hurry = threading.Event()
        self._status: dict[str, Status] = {}
        self._moved_at: dict[str, float] = {}
        self._children: list[Process] = []
        self._threads: list[threading.Thread] = []
        self._tasks: list[tuple[str, Path]] = []
        self._seed, self._work = seed, work
        self._task = SenderTask(
            name="",
            bootstrap=bootstrap,
            records="",
            history=str(history),
            client=sender.settings(transactional=bool(workload.transaction)),
            resend_seconds=sender.resend_seconds,
        )
        for n in range(workload.producers):
            name = f"producer-{n}"
            self._tasks.append((name, self._write_task(name, name, workload, producer=n)))
            self._status[name] = Status()

    def _write_task(
        self, name: str, transactional_id: str, workload: Workload, *, producer: int
    ) -> Path:
        records, place = self._work / f"{name}.records.jsonl", self._work / f"{name}.json"
        save_records(records, workload.sends(producer=producer, seed=self._seed))
        replace(
            self._task,
            name=name,
            records=str(records),
            transactional_id=transactional_id if workload.transaction else None,
        ).save(place)
        return place

    def start(self) -> None:
        """Start every producer."""
        for name, task in self._tasks:
            self._start(name, task)
        self._spawn(self._regulate)

    def _start(self, name: str, task: Path) -> Process:
        child = self._processes.start(name, self.sender.command(task, self._tools), pipes=True)
        # The threads that listen come first, in the order of who they listen to.
        self._children = [*self._children, child]
        self._spawn(self._listen, child, place=len(self._children) - 1)
        return child

    def pause(self, name: str) -> Process:
        """Stop a producer in its tracks; returns its process, to be thawed.

        Raises:
            ProducerTrouble: it has ended.
        """
        (child,) = (child for child in self._children if child.name == name)
        if not child.leader_alive():
            raise ProducerTrouble(f"{name} has ended, so it cannot be paused")
        child.pause(self._stop)
        return child

    def succeed(self, name: str, *, records: int) -> str:
        """Start a successor of a producer: it takes its transactional id, and sends records of its
        own as fast as it can. Returns its name.

        Raises:
            ProducerTrouble: there is nothing that it could send.
        """
        successor = f"{name}-successor"
        if not isinstance(self.workload, Payments):
            raise ProducerTrouble(f"{successor} has nothing to send: only payments can be made up")
        few = replace(self.workload, records=records, producers=1)
        task = self._write_task(successor, name, few, producer=len(self._status))
        # Others may be going through it just now.
        self._status = {**self._status, successor: Status()}
        self._order(self._start(successor, task), "rate inf\n")
        return successor

    def ended(self, name: str) -> bool:
        """Whether a producer has every outcome; raises `ProducerTrouble` as `check` does."""
        self.check()
        return self._status[name].done

    @property
    def acknowledged(self) -> int:
        """Records acknowledged so far."""
        return sum(s.ok for s in self._status.values())

    @property
    def progress(self) -> float:
        """Acknowledged part of the workload, 0 to 1."""
        return self.acknowledged / self.total if self.total else 1.0

    @property
    def finished(self) -> bool:
        """Whether every producer has an outcome for every record."""
        return all(s.done for s in self._status.values())

    def timeouts(self, node: int) -> int:
        """Requests to a broker that timed out, by the clients' own statistics."""
        return sum(s.timeouts.get(node, 0) for s in self._status.values())

    def warmed_up(self) -> None:
        """Records flow end to end: the workload may go on beyond its first part."""
        self._warm.set()

    def keep_for(self, faults: int) -> None:
        """Keep a share of the workload back for each of so many faults."""
        self._faults_to_come = faults

    def hurry(self) -> None:
        """Send the rest as fast as the brokers take it."""
        self._hurry.set()

    def enough(self) -> None:
        """Send nothing new; what was sent still gets its outcome."""
        for child in self._children:
            self._order(child, "enough\n")

    def wait_finished(self, seconds: float, *, still: float | None = None) -> None:
        """Wait until every record has an outcome and every producer is gone.

        Args:
            seconds: how long that may take.
            still: for how long one may tell of no progress; None: as long as it takes.

        Raises:
            Overdue: they did not finish, or stood still for too long.
            ProducerTrouble: one ended before its work was done.
        """
        # What stands still already has half of it left.
        began = time.monotonic() - (still or 0.0) / 2

        def over() -> bool:
            self.check()
            if self.finished and not any(c.alive() for c in self._children):
                return True
            latest = time.monotonic() - (still or float("inf"))
            for name, status in self._status.items():
                if not status.done and max(self._moved_at.get(name, 0.0), began) < latest:
                    raise Overdue(
                        f"waited {still:g} s for {name} to get on; last seen: {self._status}"
                    )
            return False

        wait_until(
            over,
            what="the producers to finish",
            seconds=seconds,
            stop=self._stop,
            seen=lambda: self._status,
        )
        for child in self._children:
            child.note_exit()

    def check(self) -> None:
        """Raise `ProducerTrouble` if a producer ended before its work was done."""
        for child in self._children:
            if not child.leader_alive() and not self._status[child.name].done:
                # Its last words may still be in the pipe.
                self._threads[self._children.index(child)].join(1)
                if not self._status[child.name].done:
                    raise ProducerTrouble(
                        f"{child.name} ended with {child.popen.returncode}; "
                        f"it said last: {child.tail()}"
                    )

    def _spawn(self, target: Any, *arguments: Any, place: int | None = None) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.insert(len(self._threads) if place is None else place, thread)
        thread.start()

    def _listen(self, child: Process) -> None:
        assert child.popen.stdout is not None
        for line in child.popen.stdout:
            said: Mapping[str, Any] = json.loads(line)
            status = Status(
                called=said["called"],
                ok=said["ok"],
                not_ok=said["not_ok"],
                timeouts={int(k): v for k, v in said["timeouts"].items()},
                done=said["done"],
            )
            if status.moved != self._status[child.name].moved:
                self._moved_at[child.name] = time.monotonic()
            self._status[child.name] = status

    def _regulate(self) -> None:
        while not self._stop.is_set() and not self.finished:
            for child in self._children[: self.workload.producers]:
                self._order(child, f"rate {self._rate():.6f}\n")
            if self._hurry.wait(_REGULATE_EVERY):
                for child in self._children:
                    self._order(child, "rate inf\n")
                return

    def _rate(self) -> float:
        """Records per second for one producer, less and less towards the limit."""
        called = sum(s.called for s in self._status.values())
        room = (self.limit - called) / max(self.total * _SLOW_DOWN, 1)
        part = min(1.0, max(_TRICKLE, room))
        return self.workload.rate * part / self.workload.producers

    @property
    def limit(self) -> float:
        """How many records may be sent by now, apart from the trickle."""
        if not self._warm.is_set():
            return self.total * _WARM_UP
        return self.total * max(_WARM_UP, 1 - _SHARE * self._faults_to_come)

    @staticmethod
    def _order(child: Process, line: str) -> None:
        assert child.popen.stdin is not None
        try:
            child.popen.stdin.write(line.encode())
            child.popen.stdin.flush()
        except OSError:
            return  # it is gone; `check` tells
