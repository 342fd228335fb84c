"""A lane: a client under test with its own topics and ids, on a stage shared with others."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.checkers import Claim
from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.bench.windows import Windows
from onceproof.harness.explore.exploration import Load
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.gate.client import Event
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.queues.auditor import QueueAuditor
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop, wait_until

_EVERY: Final = 0.02
_LONGEST: Final = 40
"""Characters of an error that distinguish reactions, if it has no name."""
_CODE: Final = re.compile(r"code=(\w+)")
"""The name of an error in confluent-kafka's text."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What all lanes of a batch use.

    Attributes:
        bootstrap: where clients under test connect.
        addresses: where the harness connects, bypassing the proxies, by node id.
        reader: opens a reader of logs that bypasses the proxies.
        database: returns how an audience connects to PostgreSQL.
        queue_broker: returns how an audience connects to the queue broker, if there is one.
        queues: returns the direct access to its queues.
        history: folder of the histories of all lanes of the batch.
        work: folder for their tasks.
    """

    bootstrap: str
    view: ClusterView
    addresses: Mapping[int, str]
    reader: Callable[[], LogReader]
    database: Callable[[str], str]
    queue_broker: Callable[[str], str]
    queues: Callable[[], QueueAuditor]
    processes: Processes
    tools: Tools
    history: Path
    work: Path
    stop: Stop


@dataclass(kw_only=True)
class Lane(ABC):
    """A client under test; its client ids are, or begin with, `name-1`, `name-2`, … by life.

    Attributes:
        lives: the processes of the client, one after the other.
    """

    role: ClassVar[str]
    comes_back_by: ClassVar[str] = "JoinGroup"
    """The request that shows that a client which was paused is at work again."""
    only_reads: ClassVar[bool] = False
    """Whether the client writes nothing to Kafka that shows when it works."""
    name: str
    load: Load
    around: Surroundings
    lives: list[Process] = field(default_factory=list, init=False)

    def client_ids(self, life: int) -> str | None:
        """Return the client id of a life, as `MessageMatch` takes it; None: any."""
        return f"{self.name}-{life}"

    def listen(self, messages: Callable[[], Sequence[Event]]) -> None:
        """Take what returns the messages of its clients so far; by default it is not needed."""
        return

    @property
    def windows(self) -> Windows | None:
        """Its crash windows, watched from the first call on until it is closed; by default none."""
        return None

    @property
    def topics(self) -> Mapping[str, int]:
        """Its topics, with their numbers of partitions."""
        return {self.name: 1}

    @property
    def logs(self) -> Collection[str]:
        """The topics or queues of which something may be claimed."""
        return self.topics.keys()

    @abstractmethod
    def claims(self) -> Sequence[Claim]:
        """Return what is claimed of it."""

    @abstractmethod
    def start(self) -> None:
        """Start its first life, or the next."""

    @abstractmethod
    def over(self) -> bool:
        """Return whether its work is done. Call it often: it keeps a lane going."""

    @abstractmethod
    def perceived(self) -> str:
        """Return the outcomes that the client reported, in order and without repetitions."""

    def prepare(self, reader: LogReader) -> None:
        """Read what must be known before it starts; by default nothing."""
        return

    def collect(self, writer: HistoryWriter, reader: LogReader) -> None:
        """Write what is judged beside the logs of its topics; by default nothing."""
        return

    def go_on(self) -> None:
        """Give it more to do after the faults; by default nothing."""
        return

    def take_over(self) -> None:
        """Let others do the client's work while it is paused; by default a new life of it."""
        self.start()

    def replaced(self) -> bool:
        """Return whether others have taken over from the client."""
        return self.over()

    def is_back(self, life: int, messages: Sequence[Event]) -> bool:
        """Return whether a client that was paused is at work again.

        Args:
            life: number of its life.
            messages: all messages of the lane since it was paused.
        """
        return any((e["life"], e["api"]) == (life, self.comes_back_by) for e in messages)

    def without_effect(self, single: Single) -> str | None:
        """Let the server do what an act in a window asks of it, unless the convoy does.

        Returns:
            Why that has, or would have, no effect; None if it has.
        """
        raise NotImplementedError(f"{self.role}: no window is at a server")

    def wait_over(self, seconds: float) -> None:
        """Wait until its work is done; raise `Overdue` if it is not in time."""
        wait_until(
            self.over,
            what=f"{self.name} to end",
            seconds=seconds,
            every=_EVERY,
            stop=self.around.stop,
            seen=self.lives[-1].tail,
        )

    def kill(self, how: str) -> None:
        """Kill the client under test."""
        self.lives[-1].kill(how)

    def close(self) -> None:
        """Kill everything of the lane."""
        for life in self.lives:
            if life.leader_alive():
                life.kill("the trial is over")
        if (windows := self.windows) is not None:
            windows.close()


def in_turn(words: Sequence[str]) -> str:
    """Return words without repetitions in a row."""
    return ", ".join(w for n, w in enumerate(words) if n == 0 or words[n - 1] != w)


def kind_of(error: Any) -> str:
    """Return the name of an error, without its text."""
    text = str(error or "")
    code = _CODE.search(text)
    return code[1] if code else text.partition(":")[0][:_LONGEST]
