"""A Kafka Streams application, with or without exactly-once.

To the cluster it is a consumer group whose members write in transactions, so it is started,
disturbed and collected as one; only its program differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.history.system import System
from onceproof.harness.java.programs import programs_for
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.balances import BalancesTopic
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.group.base import GroupSubject
from onceproof.harness.subjects.group.members import Members
from onceproof.harness.subjects.group.task import SESSION_TIMEOUT_MS, MemberTask
from onceproof.harness.subjects.tasks import Program
from onceproof.harness.tools.setup import Tools

Guarantee = Literal["exactly_once_v2", "at_least_once"]
_SETTINGS: Final = {
    "num.stream.threads": 1,
    "consumer.session.timeout.ms": SESSION_TIMEOUT_MS,
    "consumer.heartbeat.interval.ms": 1000,
    "consumer.auto.offset.reset": "earliest",
    "request.timeout.ms": 3000,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
    "producer.linger.ms": 5,
}
_COMMIT_MS: Final[dict[Guarantee, int]] = {"exactly_once_v2": 100, "at_least_once": 2000}
"""The default with transactions; the default without is 30 s, too long for a run."""


@dataclass(frozen=True, kw_only=True)
class StreamsTask(MemberTask):
    """The task of one instance; `state` is its `state.dir`."""

    state: str
    balances: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def consumer(self) -> str:
        return f"{self.name}-StreamThread-1-consumer"

    @property
    def producer(self) -> str:
        return f"{self.name}-StreamThread-1-producer"


@dataclass(frozen=True, kw_only=True)
class KafkaStreams(GroupSubject):
    """Payments to payments with their fee, or to balances.

    Attributes:
        guarantee: its `processing.guarantee`.
        balances: keep balances in a store with a standby replica, and write them.
        into: output topic; by default its name depends on `balances`.
        group: its `application.id`.
    """

    guarantee: Guarantee = "exactly_once_v2"
    balances: bool = False
    members: int = 2
    into: str | None = None
    view: str = "read_committed"
    group: str = "billing"

    @property
    def name(self) -> str:
        balances = "-balances" if self.balances else ""
        least = "-at-least-once" if self.guarantee == "at_least_once" else ""
        return f"kafka-streams{balances}{least}"

    @property
    def sink(self) -> str:
        return self.into or ("balances" if self.balances else "payments-with-fees")

    @property
    def system(self) -> System:
        return System.STREAMS

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"kafka-clients"})

    @property
    def says(self) -> str:
        keeps = (
            " It keeps balances in a state store with a standby replica." if self.balances else ""
        )
        if self.guarantee == "at_least_once":
            return (
                "A Kafka Streams application with processing.guarantee=at_least_once, its default: "
                f"records whose offsets were not committed are processed again.{keeps}"
            )
        return (
            "A Kafka Streams application with processing.guarantee=exactly_once_v2: effects, state "
            f"store changes and offsets are written in one transaction.{keeps}"
        )

    @property
    def sinks(self) -> tuple[str, ...]:
        """The topic; a balance is not the effect of a single payment, so it is not listed."""
        return () if self.balances else (self.sink,)

    @property
    def settings(self) -> Mapping[str, Any]:
        return _SETTINGS | {
            "processing.guarantee": self.guarantee,
            "commit.interval.ms": _COMMIT_MS[self.guarantee],
            # No cache: every update is written, so that a record processed twice shows.
            **(
                {"num.standby.replicas": 1, "statestore.cache.max.bytes": 0}
                if self.balances
                else {}
            ),
        }

    def configuration(self) -> Mapping[str, Any]:
        return {"kafka streams": dict(self.settings) | {"instances": self.members}}

    def pipeline(self, parts: PipelineParts) -> Members:
        exactly = self.guarantee == "exactly_once_v2"
        if self.balances:
            # Kafka Streams creates this topic, and the next run would add to the state in it.
            parts.stage.created([f"{self.group}-balances-changelog"])
        tasks = [
            StreamsTask(
                name=f"member-{number}",
                bootstrap=parts.stage.bootstrap("pipeline"),
                group=self.group,
                topic=parts.topic,
                sink=self.sink,
                commits="in-transaction" if exactly else "automatically",
                state=str(parts.work / f"state-{number}"),
                balances=self.balances,
                settings=self.settings,
            )
            for number in range(self.members)
        ]
        return Members(tasks, parts, program=program_of(parts.tools, parts.work))

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        topic = BalancesTopic if self.balances else TopicSink
        return topic(reader, topic=self.sink, view=self.view)


def program_of(tools: Tools, work: Path) -> Program:
    """Return the command of an instance, by its task file; all share a folder in `work`."""
    # RocksDB unpacks its library there, and removes it only on an orderly exit.
    temporary = work / "streams-tmp"
    temporary.mkdir(exist_ok=True)
    return partial(programs_for(tools).command, "StreamsMember", temporary=temporary)
