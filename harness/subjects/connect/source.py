"""Source connectors: from a file into a topic, and from topic to topic.

The broken twin is the same connector on workers without exactly-once support (the default): offsets
are then committed periodically, apart from the records.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.run_context import fresh_reader
from onceproof.harness.history.identity import digest
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.topics import MOST_REPLICAS
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.copies import CopiesTopic
from onceproof.harness.subjects.connect.base import ConnectSubject
from onceproof.harness.subjects.connect.offsets import (
    Place,
    SourceOffsets,
    place_in_file,
    place_in_topic,
)
from onceproof.harness.subjects.group.positions import Committed
from onceproof.harness.workload.payments import Payment

_EXACTLY: Final = {
    "exactly.once.support": "required",
    # With `interval` the last records would stay in an open transaction until more records arrive.
    "transaction.boundary": "poll",
    # An abandoned transaction blocks reads of the offsets topic, and so every new task, until it
    # times out: by default after a minute.
    "producer.override.transaction.timeout.ms": 20_000,
}


@dataclass(frozen=True, kw_only=True)
class SourceConnector(ConnectSubject):
    """A connector that writes into a topic.

    Attributes:
        exactly: enable exactly-once support on the workers.
        view: isolation level of the reader whose view of the topic is judged.
    """

    exactly: bool = True
    view: str = "read_committed"

    @property
    def atomic(self) -> bool:
        return self.exactly

    @property
    def output_topic(self) -> str:
        return self.sink

    @property
    def producer(self) -> str:
        """Client id of the task's producer."""
        return f"connector-producer-{self.name}-0"

    @property
    @abstractmethod
    def place(self) -> Place:
        """Convert the connector's source offsets."""

    @property
    @abstractmethod
    def keyed(self) -> bool:
        """Whether its copies have keys."""

    def configuration(self) -> Mapping[str, Any]:
        exactly = {"connector": dict(_EXACTLY)} if self.exactly else {}
        return {**super().configuration(), **exactly}

    def positions(self, parts: PipelineParts) -> Committed:
        return SourceOffsets(self.name, self.place, partial(fresh_reader, parts.stage))

    def yields(self, payments: Sequence[Payment]) -> Iterable[tuple[str, str]]:
        for each in payments:
            yield each.record, each.digest if self.keyed else digest(each.value)

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return CopiesTopic(reader, topic=self.sink, view=self.view, keyed=self.keyed)

    def _says(self, what: str) -> str:
        if self.exactly:
            return (
                f"{what}. With exactly-once support, records and source offsets are written in one "
                "transaction (KIP-618)."
            )
        return (
            f"{what}. The broken twin: exactly-once support is disabled, which is the default, and "
            "source offsets are committed periodically."
        )


@dataclass(frozen=True, kw_only=True)
class FileSource(SourceConnector):
    """Kafka Connect's file source: lines of a file, into a topic."""

    into: str = "payments-from-file"

    place = staticmethod(place_in_file)
    keyed = False

    @property
    def name(self) -> str:
        return "kafka-connect-file-source" + ("" if self.exactly else "-disabled")

    @property
    def says(self) -> str:
        return self._says("Kafka Connect's file source on two workers: each line becomes a record")

    @property
    def sink(self) -> str:
        return self.into

    def connector(self, parts: PipelineParts) -> Mapping[str, Any]:
        """Return the connector's settings; its file is the one that the sender appends to."""
        return {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
            "tasks.max": 1,
            "file": str(parts.work / parts.topic),
            "topic": self.sink,
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            **(_EXACTLY if self.exactly else {}),
        }


@dataclass(frozen=True, kw_only=True)
class MirrorSource(SourceConnector):
    """MirrorMaker's source connector: a topic into another one of the same cluster."""

    topic: str = "payments"

    place = staticmethod(place_in_topic)
    keyed = True

    @property
    def name(self) -> str:
        return "kafka-connect-mirror-source" + ("" if self.exactly else "-disabled")

    @property
    def says(self) -> str:
        return self._says("MirrorMaker's source on two workers of Kafka Connect, topic to topic")

    @property
    def sink(self) -> str:
        """The copy's name under the default replication policy."""
        return f"{_ALIAS}.{self.topic}"

    @property
    def own_topics(self) -> tuple[str, ...]:
        return (*super().own_topics, f"mm2-offset-syncs.{_TARGET}.internal")

    def connector(self, parts: PipelineParts) -> Mapping[str, Any]:
        stage = parts.stage
        return self.settings(stage.bootstrap("pipeline"), brokers=len(stage.brokers))

    def settings(self, bootstrap: str, *, brokers: int) -> Mapping[str, Any]:
        """Return the connector's settings: source and target are one cluster under two aliases."""
        replicas = min(MOST_REPLICAS, brokers)
        return {
            "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
            "tasks.max": 1,
            "source.cluster.alias": _ALIAS,
            "target.cluster.alias": _TARGET,
            "source.cluster.bootstrap.servers": bootstrap,
            "target.cluster.bootstrap.servers": bootstrap,
            "topics": self.topic,
            "replication.factor": replicas,
            "offset-syncs.topic.replication.factor": replicas,
            "refresh.topics.enabled": "false",
            "sync.topic.configs.enabled": "false",
            "sync.topic.acls.enabled": "false",
            "source.consumer.isolation.level": "read_committed",
            **(_EXACTLY if self.exactly else {}),
        }


_ALIAS: Final = "origin"
_TARGET: Final = "onceproof-copy"
