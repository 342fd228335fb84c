"""A topic as a sink and a topic of finished batches, both written in one transaction."""

from __future__ import annotations

import json

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import AtomicBatch
from onceproof.harness.sinks.topic import TopicSink


class TopicWithBatches(TopicSink):
    """A record of topic `batches` has a query id as its key and a finished micro-batch."""

    def __init__(self, reader: LogReader, *, topic: str, view: str, batches: str) -> None:
        super().__init__(reader, topic=topic, view=view)
        self._logs = reader
        self._batches = batches

    def atomic_batches(self) -> list[AtomicBatch]:
        """Return the committed batches in order; malformed records are skipped."""
        found: list[AtomicBatch] = []
        for log in self._logs.read_topic(self._batches):
            for entry, committed in zip(log.entries, log.committed(), strict=True):
                if entry.kind == "data" and committed:
                    batch = _batch(entry.value or b"")
                    if batch is not None and entry.key:
                        owner = entry.key.decode(errors="replace")
                        found.append(AtomicBatch(owner=owner, batch=batch, ordinal=len(found)))
        return found


def _batch(value: bytes) -> int | None:
    try:
        batch = json.loads(value)["batch"]
    except (ValueError, KeyError, TypeError):
        return None
    return batch if type(batch) is int else None  # true is no batch
