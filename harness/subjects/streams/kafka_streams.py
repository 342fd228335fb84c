"""A Kafka Streams application, with or without exactly-once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.history.system import System
from onceproof.harness.java.programs import programs_for
from onceproof.harness.subjects.group.task import SESSION_TIMEOUT_MS
from onceproof.harness.subjects.streams.base import StreamsSubject, StreamsTask
from onceproof.harness.subjects.tasks import Program
from onceproof.harness.tools.setup import Tools

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
_EXACTLY: Final = {"processing.guarantee": "exactly_once_v2", "commit.interval.ms": 100}
_AT_LEAST: Final = {
    "processing.guarantee": "at_least_once",
    # Its default is 30 s, too long for a run.
    "commit.interval.ms": 2000,
}


@dataclass(frozen=True, kw_only=True)
class KafkaStreamsTask(StreamsTask):
    """The task of one instance, whose one thread gives its clients their names."""

    @property
    def consumer(self) -> str:
        return f"{self.name}-StreamThread-1-consumer"


@dataclass(frozen=True, kw_only=True)
class KafkaStreams(StreamsSubject):
    """Kafka Streams; `group` is its `application.id`."""

    library: ClassVar[str] = "kafka-streams"
    title: ClassVar[str] = "Kafka Streams"
    task: ClassVar[type[StreamsTask]] = KafkaStreamsTask

    @property
    def system(self) -> System:
        return System.STREAMS

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"kafka-clients"})

    @property
    def guarantee(self) -> str:
        return f"processing.guarantee={self.settings['processing.guarantee']}"

    @property
    def store(self) -> str:
        return "a state store with a standby replica"

    @property
    def settings(self) -> Mapping[str, Any]:
        # No cache: every update is written, so that a record processed twice shows.
        store = {"num.standby.replicas": 1, "statestore.cache.max.bytes": 0}
        return {
            **_SETTINGS,
            **(_EXACTLY if self.exactly else _AT_LEAST),
            **(store if self.balances else {}),
        }

    def program(self, parts: PipelineParts) -> Program:
        return program_of(parts.tools, parts.work)


def program_of(tools: Tools, work: Path) -> Program:
    """Return the command of an instance, by its task file; all share a folder in `work`."""
    # RocksDB unpacks its library there, and removes it only on an orderly exit.
    temporary = work / "streams-tmp"
    temporary.mkdir(exist_ok=True)
    return partial(programs_for(tools).command, "StreamsMember", temporary=temporary)
