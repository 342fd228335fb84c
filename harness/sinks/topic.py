"""A Kafka topic as a sink, read with isolation level `read_committed` or `read_uncommitted`."""

from __future__ import annotations

import json

from onceproof.harness.history.identity import digest
from onceproof.harness.kafka.log_reader import Entry, LogReader
from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.workload.payments import EFFECT_COLUMNS


class TopicSink:
    """An output topic with effects as JSON values."""

    def __init__(self, reader: LogReader, *, topic: str, view: str) -> None:
        self._reader = reader
        self.name = topic
        self._view = view

    def size(self) -> int:
        """Return the sum over partitions of the end offsets at this isolation level."""
        ends = self._reader.ends(self.name).values()
        return sum(high if self._view == "read_uncommitted" else stable for stable, high in ends)

    def effects(self) -> list[Effect]:
        """Return one effect per record, aborted ones only with `read_uncommitted`."""
        found: list[Effect] = []
        for log in self._reader.read_topic(self.name):
            for entry, committed in zip(log.entries, log.committed(), strict=True):
                if entry.kind == "data" and (committed or self._view == "read_uncommitted"):
                    found.append(self._effect(entry, len(found)))
        return found

    def states(self) -> list[State]:
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        return []

    def hanging(self) -> bool:
        return any(stable < high for stable, high in self._reader.ends(self.name).values())

    def _effect(self, entry: Entry, ordinal: int) -> Effect:
        try:
            content = json.loads(entry.value or b"")
            record = content["record"]
            content_digest = digest(*(content.get(column) for column in EFFECT_COLUMNS))
        except (ValueError, KeyError, TypeError):
            record, content_digest = None, digest(entry.key, entry.value)
        return Effect(
            sink=self.name,
            view=self._view,
            record=record if isinstance(record, str) else None,
            effect_key="",
            digest=content_digest,
            position=f"{entry.topic}-{entry.partition}@{entry.offset}",
            ordinal=ordinal,
        )
