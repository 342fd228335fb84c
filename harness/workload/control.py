"""Start, pace, watch and kill the producers of a run."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Overdue, Stop, wait_until
from onceproof.harness.workload.base import Workload
from onceproof.harness.workload.pace import Pace
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.default import DEFAULT_SENDER
from onceproof.harness.workload.task_file import (
    SenderRecord,
    SenderTask,
    load_records,
    save_records,
)

_REGULATE_EVERY = 0.2


class ProducerTrouble(RuntimeError):
    """A producer ended early, or cannot do what was asked."""


@dataclass
class Status:
    """The latest status of one producer."""

    called: int = 0
    ok: int = 0
    not_ok: int = 0
    timeouts: dict[int, int] = field(default_factory=dict)
    done: bool = False

    @property
    def moved(self) -> tuple[int, int, int]:
        """The counters that change while the producer makes progress."""
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
        sender: Sender = DEFAULT_SENDER,
        tools: Tools | None = None,
    ) -> None:
        self.workload = workload
        self.sender = sender
        self.pace = Pace(workload, stop)
        self.total = workload.records
        self._processes = processes
        self._tools = tools
        self._stop = stop
        self._status: dict[str, Status] = {}
        self._moved_at: dict[str, float] = {}
        self._children: list[Process] = []
        self._paced: dict[str, Process] = {}  # the current process of each producer
        self._killed: set[str] = set()
        self._threads: list[threading.Thread] = []
        self._tasks: list[tuple[str, Path]] = []
        self._sentinels: list[dict[str, list[SenderRecord]]] = []
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
            sends = list(workload.sends(producer=n, seed=seed))
            first = len(sends) - workload.sentinels // workload.producers
            self._keep_sentinels(name, sends[first:])
            self._tasks.append((name, self._write(name, name, sends[:first])))
            self._status[name] = Status()

    def _keep_sentinels(self, name: str, last: Sequence[SenderRecord]) -> None:
        rounds = self.workload.rounds
        for n in range(rounds if last else 0):
            if len(self._sentinels) <= n:
                self._sentinels.append({})
            ends = [len(last) * part // rounds for part in (n, n + 1)]
            life = f"{name}-sentinels" + (f"-{n + 1}" if n else "")
            self._sentinels[n][life] = list(last[slice(*ends)])

    def _write(self, name: str, transactional_id: str, records: Iterable[SenderRecord]) -> Path:
        listed, place = self._work / f"{name}.records.jsonl", self._work / f"{name}.json"
        save_records(listed, records)
        replace(
            self._task,
            name=name,
            records=str(listed),
            transactional_id=transactional_id if self.workload.transaction else None,
        ).save(place)
        return place

    def start(self) -> None:
        for name, task in self._tasks:
            self._paced[name] = self._start(name, task)
        self._spawn(self._regulate)

    def _start(self, name: str, task: Path) -> Process:
        child = self._processes.start(name, self.sender.command(task, self._tools), pipes=True)
        # Listener threads come first, in the order of their processes.
        self._children = [*self._children, child]
        self._spawn(self._listen, child, place=len(self._children) - 1)
        return child

    def pause(self, name: str) -> Process:
        """Pause a producer (SIGSTOP), and return its process.

        Raises:
            ProducerTrouble: it has ended, or there is none of that name.
        """
        child = self._running(name, "paused")
        child.pause(self._stop)
        return child

    def kill(self, name: str, how: str) -> Process:
        """Kill a producer (SIGKILL); `go_on` restarts it. Returns and raises as `pause`."""
        return self._end(name, how, asked=False)

    def end(self, name: str, how: str) -> Process:
        """Ask a producer to end; otherwise like `kill`."""
        return self._end(name, how, asked=True)

    def go_on(self, name: str) -> str:
        """Restart a killed producer with the same transactional id, and return its new name.

        It sends the records that its predecessor had not called. Called records are not sent again,
        because their outcome may be unknown.
        """
        last = self._paced[name]
        self._threads[self._children.index(last)].join(5)  # read its last output
        called = _called(Path(self._task.history) / f"{last.name}.jsonl")
        left = [
            record
            for record in load_records(self._work / f"{last.name}.records.jsonl")
            if record.record not in called
        ]
        life = f"{name}-life-{sum(n.startswith(f'{name}-life-') for n in self._status) + 2}"
        task = self._write(life, name, renumbered(left))
        # In this order: the regulator ends if all of them are done.
        self._status = {**self._status, life: Status()}
        self._status[last.name].done = True
        self._paced[name] = self._start(life, task)
        if self.pace.hurried.is_set():
            self._order(self._paced[name], "rate inf\n")
        return life

    def _end(self, name: str, how: str, *, asked: bool) -> Process:
        child = self._running(name, "stopped" if asked else "killed")
        self._killed.add(child.name)
        child.end(how, asked=asked)
        return child

    def _running(self, name: str, what: str) -> Process:
        if name not in self._paced:
            raise ProducerTrouble(
                f"unknown producer {name}: expected one of {', '.join(self._paced)}"
            )
        child = self._paced[name]
        if not child.leader_alive():
            raise ProducerTrouble(f"{name} cannot be {what}: it has already exited")
        return child

    def succeed(self, name: str, *, records: int) -> str:
        """Start a successor of a producer, with its transactional id, and return its name.

        The successor sends new records as fast as it can.

        Raises:
            ProducerTrouble: the workload is not `Payments`, so there are no records to send.
        """
        successor = f"{name}-successor"
        if not isinstance(self.workload, Payments):
            raise ProducerTrouble(
                f"{successor} has no records to send: onceproof can generate payments only"
            )
        few = replace(self.workload, records=records, producers=1)
        sends = few.sends(producer=len(self._status), seed=self._seed)
        task = self._write(successor, name, sends)
        # Replaced, not modified: other threads may be iterating over it.
        self._status = {**self._status, successor: Status()}
        self._order(self._start(successor, task), "rate inf\n")
        return successor

    def ended(self, name: str) -> bool:
        """Return whether all of a producer's calls have outcomes; raises as `check` does."""
        self.check()
        return self._status[name].done

    def status(self, life: str) -> Status:
        return self._status[life]

    @property
    def acknowledged(self) -> int:
        return sum(s.ok for s in self._status.values())

    @property
    def progress(self) -> float:
        """Acknowledged fraction of the workload, 0 to 1."""
        return self.acknowledged / self.total if self.total else 1.0

    @property
    def finished(self) -> bool:
        return all(s.done for s in self._status.values())

    def timeouts(self, node: int) -> int:
        """Return the number of timed-out requests to a broker, by the clients' statistics."""
        return sum(s.timeouts.get(node, 0) for s in self._status.values())

    @property
    def keeps_sentinels(self) -> bool:
        return bool(self._sentinels)

    def send_sentinels(self) -> None:
        """Send the next round of sentinels, with new producers."""
        for life, records in (self._sentinels.pop(0) if self._sentinels else {}).items():
            task = self._write(life, life.partition("-sentinels")[0], records)
            self._status = {**self._status, life: Status()}
            self._order(self._start(life, task), "rate inf\n")

    def enough(self) -> None:
        """Stop sending; records already sent still get their outcomes."""
        self._sentinels.clear()
        for child in self._children:
            self._order(child, "enough\n")

    def wait_finished(self, seconds: float, *, still: float | None = None) -> None:
        """Wait until every record has an outcome and every producer has exited.

        Args:
            still: maximum seconds without progress of a producer; None: unlimited.

        Raises:
            Overdue: they did not finish in time, or one made no progress.
            ProducerTrouble: a producer ended before its work was done.
        """
        # A producer that already makes no progress gets half of `still`.
        began = self._stop.monotonic() - (still or 0.0) / 2

        def over() -> bool:
            self.check()
            if self.finished and not any(c.alive() for c in self._children):
                return True
            latest = self._stop.monotonic() - (still or float("inf"))
            for name, status in self._status.items():
                if not status.done and max(self._moved_at.get(name, 0.0), began) < latest:
                    raise Overdue(
                        f"waited {still:g} s for {name} to make progress; last seen: {self._status}"
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
            if child.name in self._killed:
                continue
            if not child.leader_alive() and not self._status[child.name].done:
                # Its last output may still be in the pipe.
                self._threads[self._children.index(child)].join(1)
                if not self._status[child.name].done:
                    raise ProducerTrouble(
                        f"{child.name} exited with {child.popen.returncode}; "
                        f"last output: {child.tail()}"
                    )

    def _spawn(self, target: Any, *arguments: Any, place: int | None = None) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.insert(len(self._threads) if place is None else place, thread)
        thread.start()

    def _listen(self, child: Process) -> None:
        assert child.popen.stdout is not None
        for line in child.popen.stdout:
            message: Mapping[str, Any] = json.loads(line)
            status = Status(
                called=message["called"],
                ok=message["ok"],
                not_ok=message["not_ok"],
                timeouts={int(k): v for k, v in message["timeouts"].items()},
                done=message["done"],
            )
            if status.moved != self._status[child.name].moved:
                self._moved_at[child.name] = self._stop.monotonic()
            self._status[child.name] = status

    def _regulate(self) -> None:
        while not self._stop.is_set() and not self.finished:
            rate = self.pace.rate(sum(s.called for s in self._status.values()))
            for child in list(self._paced.values()):
                self._order(child, f"rate {rate:.6f}\n")
            if self.pace.hurried.wait(_REGULATE_EVERY):
                for child in self._children:
                    self._order(child, "rate inf\n")
                return

    @staticmethod
    def _order(child: Process, line: str) -> None:
        assert child.popen.stdin is not None
        try:
            child.popen.stdin.write(line.encode())
            child.popen.stdin.flush()
        except OSError:
            return  # it has exited, which `check` reports


def _called(history: Path) -> set[str]:
    """Return the records in a producer's history, whose last line may be incomplete."""
    found = set()
    for line in history.read_bytes().splitlines():
        with suppress(ValueError):
            row = json.loads(line)
            if row["t"] == "called":
                found.add(str(row["record"]))
    return found


def renumbered(records: Iterable[SenderRecord]) -> Iterator[SenderRecord]:
    """Renumber the records' transactions from 0."""
    first: int | None = None
    for record in records:
        if record.transaction is None:
            yield record
            continue
        first = record.transaction if first is None else first
        yield replace(record, transaction=record.transaction - first)
