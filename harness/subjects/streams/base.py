"""Base class of applications with a stream library.

To the cluster, such an application is a consumer group, so it is started, disturbed and collected
as one; only its program differs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.balances import BalancesTopic
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.group.base import GroupSubject
from onceproof.harness.subjects.group.members import Members
from onceproof.harness.subjects.group.task import MemberTask
from onceproof.harness.subjects.tasks import Program


@dataclass(frozen=True, kw_only=True)
class StreamsTask(MemberTask):
    """The task of one instance; `state` is the folder of its state."""

    state: str
    balances: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StreamsSubject(GroupSubject):
    """Payments to payments with their fee, or to balances.

    Attributes:
        exactly: whether the library's exactly-once is on.
        balances: keep balances in a store, and write them.
        into: output topic; by default its name depends on `balances`.
        group: the name of the application.
    """

    library: ClassVar[str]
    title: ClassVar[str]
    """The library's name for readers."""
    task: ClassVar[type[StreamsTask]] = StreamsTask

    exactly: bool = True
    balances: bool = False
    members: int = 2
    into: str | None = None
    view: str = "read_committed"
    group: str = "billing"

    @property
    def name(self) -> str:
        balances = "-balances" if self.balances else ""
        least = "" if self.exactly else "-at-least-once"
        return f"{self.library}{balances}{least}"

    @property
    def sink(self) -> str:
        return self.into or ("balances" if self.balances else "payments-with-fees")

    @property
    def sinks(self) -> tuple[str, ...]:
        """The topic; a balance is not the effect of a single payment, so it is not listed."""
        return () if self.balances else (self.sink,)

    @property
    def says(self) -> str:
        keeps = f" It keeps balances in {self.store}." if self.balances else ""
        does = (
            ": effects, state changes and offsets are written in one transaction."
            if self.exactly
            else ", its default: records whose offsets were not committed are processed again."
        )
        return f"A {self.title} application with {self.guarantee}{does}{keeps}"

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """The setting for exactly-once, or its default."""

    @property
    def store(self) -> str:
        """Where it keeps balances."""
        return "a state store"

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """The library's settings, by its names."""

    @property
    def changelog(self) -> str:
        """The topic of the state, which the library creates."""
        return f"{self.group}-balances-changelog"

    @abstractmethod
    def program(self, parts: PipelineParts) -> Program:
        """Return the command of an instance, by its task file."""

    def configuration(self) -> Mapping[str, Any]:
        return {self.library.replace("-", " "): {**self.settings, "instances": self.members}}

    def pipeline(self, parts: PipelineParts) -> Members:
        if self.balances:
            # The next run would add to the state in it.
            parts.stage.created([self.changelog])
        tasks = [
            self.task(
                name=f"member-{number}",
                bootstrap=parts.stage.bootstrap("pipeline"),
                group=self.group,
                topic=parts.topic,
                sink=self.sink,
                commits="in-transaction" if self.exactly else "automatically",
                state=str(parts.work / f"state-{number}"),
                balances=self.balances,
                settings=self.settings,
            )
            for number in range(self.members)
        ]
        return Members(tasks, parts, program=self.program(parts))

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        topic = BalancesTopic if self.balances else TopicSink
        return topic(reader, topic=self.sink, view=self.view)
