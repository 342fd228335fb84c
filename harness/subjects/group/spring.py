"""A listener container of Spring for Apache Kafka, with transactions of the container."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.history.system import System
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.spring.programs import spring_programs
from onceproof.harness.subjects.group.base import GroupSubject
from onceproof.harness.subjects.group.members import Members
from onceproof.harness.subjects.group.task import MemberTask
from onceproof.harness.tools import jar_lock


@dataclass(frozen=True, kw_only=True)
class SpringTask(MemberTask):
    """The task of one container; the fields are those of `Spring`."""

    listener: str
    fenced: str
    attempts: str
    transaction_seconds: int


@dataclass(frozen=True, kw_only=True)
class Spring(GroupSubject):
    """Containers with `EOSMode.V2` and a `KafkaTransactionManager`.

    Attributes:
        listener: whether a transaction is for all records of a poll, or for each.
        fenced: what the container does when its producer was fenced; Spring's default is to go on.
        attempts: how often a record that was rolled back is tried again; Spring's default is ten
            times, after which a record listener skips it.
        rewind: after a rollback, read again from there.
        transaction_seconds: time-out of a transaction.
    """

    listener: Literal["batch", "record"] = "batch"
    fenced: Literal["stops", "goes-on"] = "stops"
    attempts: Literal["unlimited", "ten"] = "unlimited"
    rewind: bool = True
    transaction_seconds: int = 20
    members: int = 2
    into: str = "payments-with-fees"
    view: str = "read_committed"
    group: str = "billing"

    @property
    def system(self) -> System:
        return System.SPRING

    @property
    def name(self) -> str:
        listener = "-by-record" if self.listener == "record" else ""
        fenced = "-goes-on" if self.fenced == "goes-on" else ""
        attempts = "-ten-attempts" if self.attempts == "ten" else ""
        return f"spring-kafka{listener}{fenced}{attempts}{'' if self.rewind else '-no-rewind'}"

    @property
    def sink(self) -> str:
        return self.into

    @property
    def says(self) -> str:
        of = "the records of a poll" if self.listener == "batch" else "each record"
        without = [
            *(["its default goes on when it is fenced"] if self.fenced == "goes-on" else []),
            *(["its default skips a record after ten attempts"] if self.attempts == "ten" else []),
            *([] if self.rewind else ["after a rollback it continues without rewinding"]),
        ]
        twin = f" Broken twin: {'; '.join(without)}." if without else ""
        return (
            f"A group of listener containers of Spring for Apache Kafka, with one transaction for "
            f"the effects and offsets of {of}.{twin}"
        )

    def configuration(self) -> Mapping[str, Any]:
        return {
            "containers": {
                "number": self.members,
                "program": "harness/spring/SpringMember.java",
                "version": jar_lock.SPRING_KAFKA,
                "listener": self.listener,
                "stopContainerWhenFenced": self.fenced == "stops",
                "attempts after a rollback": self.attempts,
                "transaction.timeout.ms": self.transaction_seconds * 1000,
            }
        }

    def pipeline(self, parts: PipelineParts) -> Members:
        tasks = [
            SpringTask(
                name=f"member-{number}",
                bootstrap=parts.stage.bootstrap("pipeline"),
                group=self.group,
                topic=parts.topic,
                sink=self.sink,
                commits="in-transaction",
                rewind=self.rewind,
                listener=self.listener,
                fenced=self.fenced,
                attempts=self.attempts,
                transaction_seconds=self.transaction_seconds,
            )
            for number in range(self.members)
        ]
        command = partial(spring_programs(parts.tools).command, "SpringMember")
        return Members(tasks, parts, program=command)

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return TopicSink(reader, topic=self.sink, view=self.view)
