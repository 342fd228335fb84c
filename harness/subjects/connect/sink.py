"""A sink connector from a topic into a file, one line per record.

Connect guarantees at-least-once for sinks: lines are written as records arrive and offsets are
committed periodically, so records in between are written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.run_context import fresh_reader
from onceproof.harness.history.identity import digest
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.lines import VIEW, Lines
from onceproof.harness.subjects.connect.base import ConnectSubject
from onceproof.harness.subjects.group.positions import Committed, GroupPositions
from onceproof.harness.workload.payments import Payment


@dataclass(frozen=True, kw_only=True)
class FileSink(ConnectSubject):
    """Kafka Connect's file sink, with payments."""

    into: str = "payments.txt"

    name = "kafka-connect-file-sink"
    view = VIEW
    output_topic = None

    @property
    def says(self) -> str:
        return (
            "Kafka Connect's file sink on two workers: each record becomes a line, and offsets are "
            "committed periodically: at-least-once only. Readers skip the incomplete lines that a "
            "killed worker leaves."
        )

    @property
    def sink(self) -> str:
        return self.into

    @property
    def consumer(self) -> str:
        """Client id of the task's consumer."""
        return f"connector-consumer-{self.name}-0"

    def connector(self, parts: PipelineParts) -> Mapping[str, Any]:
        return {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "tasks.max": 1,
            "topics": parts.topic,
            "file": str(parts.work / self.sink),
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        }

    def positions(self, parts: PipelineParts) -> Committed:
        """Return the offsets of its consumer group, which Connect names after the connector."""
        return GroupPositions.from_now(f"connect-{self.name}", partial(fresh_reader, parts.stage))

    def yields(self, payments: Sequence[Payment]) -> Iterable[tuple[str, str]]:
        for each in payments:
            yield each.record, digest(each.value)

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return Lines(work / self.sink, sink=self.sink)
