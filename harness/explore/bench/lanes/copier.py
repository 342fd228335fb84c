"""A consumer group that reads the records of a trial and writes them, with a fee, elsewhere."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.checkers import Claim, at_least_once, at_most_once, exactly_once
from onceproof.harness.explore.bench.lanes.base import in_turn, kind_of
from onceproof.harness.explore.bench.lanes.payments import PaymentsLane
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.group.clients import Client
from onceproof.harness.subjects.group.subject import ConsumerGroup, Missing, program_of
from onceproof.harness.subjects.group.task import Commits, MemberTask
from onceproof.harness.subjects.tasks import Program

VIEW: Final = "read_committed"
_MEMBER: Final = "member"
_MEMBERS: Final = 2
_SECONDS: Final = 10.0
"""How long the input waits until both members have partitions."""
_SAID: Final = re.compile(r"^(transaction|over|commit|consume|hung|write)\W (.*)")
"""What a member logs about a failure."""
_CLAIMS: Final[Mapping[Commits, Callable[..., Claim]]] = {
    "in-transaction": exactly_once,
    "before": at_most_once,
    "after": at_least_once,
}


@dataclass(kw_only=True)
class CopierLane(PaymentsLane):
    """A group of one."""

    role: ClassVar[str] = "consumer"
    at_once: ClassVar[bool] = True
    aborted: ClassVar[bool] = True
    client: Client
    commits: Commits = "in-transaction"
    without: Missing = "nothing"

    def claims(self) -> Sequence[Claim]:
        return [_CLAIMS[self.commits](self.source, into=self.name, view=VIEW)]

    def start(self) -> None:
        self.lives.append(self._begin(_MEMBER, f"{self.name}-{len(self.lives) + 1}"))

    def _begin(self, member: str, client_id: str) -> Process:
        """Start a process of a member, whose transactional id is the same in all lives."""
        task = MemberTask(
            **self._places(client_id),
            group_metadata=self.without != "group-metadata",
            rewind=self.without != "rewind",
            outcomes=self.without != "outcomes",
            batch=self.load.records,
            transactional_id=f"{self.name}-{member}",
        )
        return self._start(task, program_of(self.client, self.around.tools))

    def _places(self, client_id: str) -> dict[str, Any]:
        """Return the fields of a task that all kinds of members have."""
        return {
            "name": client_id,
            "bootstrap": self.around.bootstrap,
            "group": self.name,
            "topic": self.source,
            "sink": self.name,
            "commits": self.commits,
        }

    def _start(self, task: MemberTask, program: Program) -> Process:
        file = self.around.work / f"{task.name}.json"
        task.save(file)
        return self.around.processes.start(task.name, program(file))

    def perceived(self) -> str:
        lines = [line for life in self.lives for line in _lines(life.log)]
        said = [f"{found[1]} {kind_of(found[2])}" for line in lines if (found := _SAID.match(line))]
        return in_turn(said) or "committed"

    def open_sink(self, reader: LogReader) -> TopicSink:
        return TopicSink(reader, topic=self.name, view=VIEW)

    @property
    def atomic_with(self) -> Sequence[str]:
        return [self.name] if self.commits == "in-transaction" else []

    def expected(self) -> Iterable[Mapping[str, Any]]:
        return self.expected_of(ConsumerGroup(into=self.name))


def _lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines() if log.exists() else []


@dataclass(kw_only=True)
class SharedCopierLane(CopierLane):
    """A group of two members with a partition each; the first is under test."""

    role: ClassVar[str] = "member"
    _others: list[Process] = field(default_factory=list, init=False)
    _began: float = field(default=0.0, init=False)

    def start(self) -> None:
        super().start()
        if not self._others:
            self._began = time.monotonic()
            self._start_other()

    def go_on(self) -> None:
        super().go_on()
        self._began = time.monotonic()

    def take_over(self) -> None:
        """Leave it to the other member."""
        return

    def _start_other(self) -> None:
        name = f"{self.name}-other-{len(self._others) + 1}"
        self._others.append(self._begin("other", name))

    def restart(self) -> None:
        super().restart()
        if not self._others[-1].leader_alive():
            self._start_other()

    def ready(self) -> bool:
        """Return whether each member has a partition, or a fault has kept them from it for long.

        So each of them does the same work in every trial.
        """
        if self._ends and not self._more:
            return True
        found = self.group.describe()
        stable = found.state == "Stable" and len(found.members) == _MEMBERS
        return stable or time.monotonic() > self._began + _SECONDS

    def replaced(self) -> bool:
        found = self.group.describe()
        return found.state == "Stable" and self.lives[-1].name not in found.members

    def close(self) -> None:
        super().close()
        self._others[-1].kill("the trial is over")
