"""Observers of a run: separate reader processes, from the first record to the end of the log.

They are not under test. An observer that ends by itself is a failure of the harness and makes the
run invalid; readers' claims are judged by what they saw.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from onceproof.harness.context.pipeline import PipelineParts, Positions
from onceproof.harness.context.run_context import addresses, fresh_reader
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.python import python_module
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.observer import ObserverTask
from onceproof.harness.wait import wait_until

Isolation = Literal["read_committed", "read_uncommitted"]
_SECONDS: Final = 30.0


class ObserverTrouble(RuntimeError):
    """An observer ended by itself; the text has its last output."""


@dataclass(frozen=True, kw_only=True)
class Observer:
    """A reader of all records.

    Attributes:
        isolation: its client's isolation level.
        believes: the isolation level that it is judged by; None: `isolation`. They differ for an
            application that forgot to set it.
    """

    isolation: Isolation
    believes: Isolation | None = None

    @property
    def name(self) -> str:
        return f"observer-{self.isolation.removeprefix('read_')}"

    def settings(self) -> Mapping[str, Any]:
        return {
            "group.id": self.name,  # required, although it never joins a group
            "isolation.level": self.isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 100,
            "reconnect.backoff.ms": 50,
            "reconnect.backoff.max.ms": 500,
            "log_level": 0,
        }


@dataclass
class _Status:
    read: int = 0
    ends: dict[str, int] = field(default_factory=dict)


class Observed:
    """The observers of one run."""

    counted = "commits of the pipeline"
    awaited = "every observer to read a record"

    def __init__(
        self, observers: Sequence[Observer], topics: Sequence[str], parts: PipelineParts
    ) -> None:
        self._observers = observers
        self._topics = topics
        self._parts = parts
        self._children: list[Process] = []
        self._status = {observer.name: _Status() for observer in observers}

    @property
    def commits(self) -> int:
        return sum(status.read for status in self._status.values())

    def start(self) -> None:
        parts = self._parts
        places = self._places()
        for observer in self._observers:
            task = parts.work / f"{observer.name}.json"
            ObserverTask(
                name=observer.name,
                bootstrap=parts.stage.bootstrap("pipeline"),
                history=str(parts.history),
                partitions=places,
                client=observer.settings(),
                isolation=observer.believes or observer.isolation,
            ).save(task)
            child = parts.processes.start(
                observer.name,
                [*python_module("onceproof.harness.subjects.observer"), task],
                pipes=True,
            )
            self._children.append(child)
            threading.Thread(target=self._listen, args=(child,), daemon=True).start()

    def _places(self) -> list[tuple[str, int]]:
        """Return every partition of every topic; a broker may learn of a new topic late."""
        with ClusterView(addresses(self._parts.stage)) as view:

            def known() -> list[tuple[str, int]] | None:
                found = [view.partitions(topic) for topic in self._topics]
                return (
                    [(p.topic, p.partition) for each in found for p in each] if all(found) else None
                )

            return wait_until(
                known,
                what=f"the partitions of {', '.join(self._topics)} to be known to a broker",
                seconds=_SECONDS,
                stop=self._parts.stop,
            )

    def alive(self) -> bool:
        return any(child.leader_alive() for child in self._children)

    def check(self) -> None:
        """Raise `ObserverTrouble` if an observer ended by itself."""
        for child in self._children:
            if not child.leader_alive() and not child.ending:
                raise ObserverTrouble(
                    f"{child.name} exited with {child.popen.returncode}; last output: "
                    f"{child.tail()}"
                )

    def flows(self) -> bool:
        return all(status.read for status in self._status.values())

    def shortly(self) -> str | None:
        return f"{self.commits} reads" if self._children else None

    def positions(self) -> Positions | None:
        return None

    def idle(self) -> bool:
        stage = self._parts.stage
        with fresh_reader(stage) as reader:
            ends = {
                f"{topic}/{partition}": stable
                for topic in self._topics
                for partition, (stable, _) in reader.ends(topic).items()
            }
        # A partition without records ends at 0, and may have no entry.
        return all(
            status.ends.get(place, 0) >= end
            for status in self._status.values()
            for place, end in ends.items()
        )

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """Ask the observers to write the rest and end, and wait for that."""
        self.check()
        for child in self._children:
            child.ending = True
            assert child.popen.stdin is not None
            child.popen.stdin.write(b"enough\n")
            child.popen.stdin.flush()
        wait_until(
            lambda: not any(child.alive() for child in self._children),
            what="the observers to exit",
            seconds=_SECONDS,
            stop=self._parts.stop,
        )
        for child in self._children:
            child.note_exit()

    def close(self) -> None:
        """Do nothing: the observers' processes are ended elsewhere."""

    def _listen(self, child: Process) -> None:
        assert child.popen.stdout is not None
        for line in child.popen.stdout:
            self._status[child.name] = _Status(**json.loads(line))
