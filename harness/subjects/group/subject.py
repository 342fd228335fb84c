"""A consumer group that reads payments and writes them with their fee into another topic.

The one thing to know: one program serves them all; what tells them apart is when they commit their
positions, and what a broken twin leaves out.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from harness.java.programs import programs_for
from harness.kafka.log_reader import LogReader
from harness.sinks.base import Sink
from harness.sinks.topic import TopicSink
from harness.subjects.group import member, task
from harness.subjects.group.base import GroupSubject
from harness.subjects.group.members import Members, Program
from harness.subjects.group.task import Commits, MemberTask
from harness.subjects.pipeline import PipelineParts
from harness.tools.setup import Tools

CALLS: Final = "calls"
"""The sink of the service outside."""
Client = Literal["librdkafka", "java"]
Missing = Literal["nothing", "group-metadata", "rewind"]

_SAYS: Final[dict[Commits, str]] = {
    "in-transaction": (
        "A consumer group that writes effects and positions in one transaction "
        "(send_offsets_to_transaction): exactly-once from topic to topic."
    ),
    "before": "A consumer group that commits, then writes: at-most-once, and no more.",
    "after": "A consumer group that writes, then commits: at-least-once, and no more.",
    "automatically": (
        "A consumer group whose client commits in the background what it has handed out: it "
        "promises nothing."
    ),
}
_WITHOUT: Final[dict[Missing, str]] = {
    "nothing": "",
    "group-metadata": " Broken twin: its transactions do not know the group's generation.",
    "rewind": " Broken twin: after an abort it goes on where it was.",
}


@dataclass(frozen=True, kw_only=True)
class ConsumerGroup(GroupSubject):
    """A group on trial.

    Attributes:
        client: whose; in Java members commit in transactions and call nobody.
        commits: when positions are committed.
        without: what a broken twin leaves out.
        calls: whether each record is also told to a service outside, once for each processing.
        members: how many.
        into: the topic that it writes to.
        view: who looks at it.
        group: its name.
    """

    client: Client = "librdkafka"
    commits: Commits = "in-transaction"
    without: Missing = "nothing"
    calls: bool = False
    members: int = 2
    into: str = "payments-with-fees"
    view: str = "read_committed"
    group: str = "billing"

    @property
    def sink(self) -> str:
        """The topic that it writes to."""
        return self.into

    @property
    def name(self) -> str:
        """E.g. `consume-transform-produce`, `plain-consumers-before`."""
        if self.commits != "in-transaction":
            return f"plain-consumers-{self.commits}"
        without = "" if self.without == "nothing" else f"-no-{self.without}"
        client = "" if self.client == "librdkafka" else f"-{self.client}"
        return f"consume-transform-produce{client}{without}" + ("-calls" if self.calls else "")

    @property
    def says(self) -> str:
        """What it promises."""
        calls = " Each record is also told to a service outside." if self.calls else ""
        return f"{_SAYS[self.commits]} Members of {self.client}.{_WITHOUT[self.without]}{calls}"

    @property
    def sinks(self) -> tuple[str, ...]:
        """The topic, and the service."""
        return (self.sink, CALLS) if self.calls else (self.sink,)

    @property
    def balances(self) -> bool:
        """It keeps no state."""
        return False

    def configuration(self) -> Mapping[str, Any]:
        """Settings of its clients; those in Java stand in their program."""
        group = {"number": self.members, "positions": f"committed {self.commits}"}
        if self.client == "java":
            return {"members": group | {"program": "harness/java/Member.java"}}
        return {
            "members": group,
            "member's consumer": member.CONSUMER,
            "member's producer": member.PRODUCER
            | {"transaction.timeout.ms": task.TRANSACTION_TIMEOUT_MS},
        }

    def pipeline(self, parts: PipelineParts) -> Members:
        """Its members."""
        service = f"{parts.address}:8080" if self.calls else None
        tasks = [
            MemberTask(
                name=f"member-{number}",
                bootstrap=parts.stage.bootstrap("pipeline"),
                group=self.group,
                topic=parts.topic,
                sink=self.sink,
                commits=self.commits,
                group_metadata=self.without != "group-metadata",
                rewind=self.without != "rewind",
                calls=f"http://{service}" if service else None,
            )
            for number in range(self.members)
        ]
        program = [sys.executable, "-m", "harness.subjects.group.service"]
        return Members(
            tasks,
            parts,
            program=_in_java(parts.tools) if self.client == "java" else _in_python,
            service=[*program, service, str(parts.history), CALLS] if service else [],
        )

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        """The output topic."""
        return TopicSink(reader, topic=self.sink, view=self.view)


def _in_python(task: Path) -> Sequence[str | Path]:
    return [sys.executable, "-m", "harness.subjects.group.member", task]


def _in_java(tools: Tools) -> Program:
    return partial(programs_for(tools).command, "Member")
