"""A consumer group that reads payments and writes them with their fee to another topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.java.programs import programs_for
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.processes.python import python_module
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.group.base import GroupSubject
from onceproof.harness.subjects.group.clients import ELSEWHERE, IN_PYTHON, Client
from onceproof.harness.subjects.group.members import Members
from onceproof.harness.subjects.group.task import Commits, MemberTask, Protocol
from onceproof.harness.subjects.tasks import Program
from onceproof.harness.tools.setup import Tools

CALLS: Final = "calls"
"""Sink of the external service."""
Missing = Literal["nothing", "group-metadata", "rewind", "outcomes"]

_SAYS: Final[dict[Commits, str]] = {
    "in-transaction": (
        "A consumer group that writes effects and offsets in one transaction "
        "(send_offsets_to_transaction): exactly-once from topic to topic."
    ),
    "before": "A consumer group that commits offsets, then writes effects: at-most-once only.",
    "after": "A consumer group that writes effects, then commits offsets: at-least-once only.",
    "automatically": (
        "A consumer group whose client commits offsets in the background as it returns records "
        "(enable.auto.commit): no guarantee."
    ),
}
_WITHOUT: Final[dict[Missing, str]] = {
    "nothing": "",
    "group-metadata": " Broken twin: its transactions do not carry the group's generation.",
    "rewind": " Broken twin: after an abort it continues without rewinding.",
    "outcomes": " Broken twin: it commits without checking whether its sends succeeded.",
}
_CAN_OMIT: Final[dict[Client, frozenset[Missing]]] = {
    "librdkafka": frozenset({"group-metadata", "rewind"}),
    "java": frozenset({"group-metadata", "rewind"}),
    # A member that was absent gives up by itself, with or without the group's metadata.
    "kafka-python": frozenset({"rewind"}),
    # Its transactions take no group metadata, and every abort starts a new life.
    "aiokafka": frozenset({"outcomes"}),
    # Its session always has the group's metadata.
    "franz-go": frozenset({"rewind"}),
    "sarama": frozenset({"rewind"}),
    # Its transactions take no group metadata.
    "kafkajs": frozenset({"rewind"}),
    # Its transactions take the consumer, not what its group was when the records were read.
    "confluent-javascript": frozenset({"rewind"}),
}
_RUNTIMES: Final[Mapping[str, str]] = {"java": "kafka-clients"}
"""Client → runtime, where their names differ."""


@dataclass(frozen=True, kw_only=True)
class ConsumerGroup(GroupSubject):
    """A consumer group under test.

    Attributes:
        client: only members of librdkafka can commit outside transactions and call the service.
        without: what a broken twin leaves out.
        calls: also call an external service for each record, each time it is processed.
        protocol: the `group.protocol` of its members.
    """

    client: Client = "librdkafka"
    commits: Commits = "in-transaction"
    without: Missing = "nothing"
    calls: bool = False
    protocol: Protocol = "classic"
    members: int = 2
    into: str = "payments-with-fees"
    view: str = "read_committed"
    group: str = "billing"

    def __post_init__(self) -> None:
        """Raise `ValueError` for what members of this client cannot do."""
        if self.client != "librdkafka" and (self.commits != "in-transaction" or self.calls):
            raise ValueError(
                f"client={self.client!r} supports only commits='in-transaction' without calls: "
                "for others use client='librdkafka'"
            )
        if self.protocol == "consumer" and self.client not in ("librdkafka", "java"):
            raise ValueError(f"client={self.client!r} does not support protocol='consumer'")
        if self.without not in {"nothing", *_CAN_OMIT[self.client]}:
            raise ValueError(
                f"client={self.client!r} does not support without={self.without!r}: expected "
                f"{' or '.join(sorted(_CAN_OMIT[self.client]))}"
            )

    @property
    def sink(self) -> str:
        return self.into

    @property
    def name(self) -> str:
        """For example `consume-transform-produce`, `plain-consumers-before`."""
        if self.commits != "in-transaction":
            return f"plain-consumers-{self.commits}"
        without = "" if self.without == "nothing" else f"-no-{self.without}"
        client = "" if self.client == "librdkafka" else f"-{self.client}"
        protocol = "-consumer-protocol" if self.protocol == "consumer" else ""
        calls = "-calls" if self.calls else ""
        return f"consume-transform-produce{client}{protocol}{without}{calls}"

    @property
    def runtimes(self) -> frozenset[str]:
        if self.client in ELSEWHERE:
            return frozenset()  # in one version only
        return frozenset({_RUNTIMES.get(self.client, self.client)})

    @property
    def plain_text(self) -> bool:
        return self.client in ELSEWHERE

    @property
    def says(self) -> str:
        calls = " It also calls an external HTTP service for each record." if self.calls else ""
        protocol = " and group.protocol=consumer (KIP-848)" if self.protocol == "consumer" else ""
        members = f" Members use {self.client}{protocol}."
        return f"{_SAYS[self.commits]}{members}{_WITHOUT[self.without]}{calls}"

    @property
    def sinks(self) -> tuple[str, ...]:
        return (self.sink, CALLS) if self.calls else (self.sink,)

    def configuration(self) -> Mapping[str, Any]:
        """Return the settings of its clients; those of other languages are in their program."""
        group = {
            "number": self.members,
            "positions": f"committed {self.commits}",
            "group.protocol": self.protocol,
        }
        if self.client == "java":
            return {"members": group | {"program": "harness/java/Member.java"}}
        if used := ELSEWHERE.get(self.client):
            return {"members": {**group, "program": used.source, "version": used.version}}
        client = IN_PYTHON[self.client]
        return {
            "members": group,
            "member's consumer": dict(client.consumer),
            "member's producer": dict(client.producer),
        }

    def pipeline(self, parts: PipelineParts) -> Members:
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
                outcomes=self.without != "outcomes",
                calls=f"http://{service}" if service else None,
                protocol=self.protocol,
            )
            for number in range(self.members)
        ]
        program = python_module("onceproof.harness.subjects.group.service")
        return Members(
            tasks,
            parts,
            program=program_of(self.client, parts.tools),
            service=[*program, service, str(parts.history), CALLS] if service else [],
        )

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return TopicSink(reader, topic=self.sink, view=self.view)


def program_of(client: Client, tools: Tools) -> Program:
    """Return the command of a member that uses a client, by its task file."""
    if client == "java":
        return partial(programs_for(tools).command, "Member")
    if client in ELSEWHERE:
        return ELSEWHERE[client].command
    name, python = IN_PYTHON[client].program, tools.chosen.pythons.get(client)

    def command(task: Path) -> Sequence[str | Path]:
        return [*python_module(name, python=python), task]

    return command
