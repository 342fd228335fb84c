"""A topic of payments, copied byte for byte."""

from __future__ import annotations

import json

from onceproof.harness.history.identity import digest
from onceproof.harness.kafka.log_reader import Entry, LogReader
from onceproof.harness.sinks.base import Effect
from onceproof.harness.sinks.topic import TopicSink


def record_of(value: bytes | str | None) -> str | None:
    """Return the record identity of a payment; None if `value` is not a payment."""
    try:
        record = json.loads(value or "")["record"]
    except (ValueError, KeyError, TypeError):
        return None
    return record if isinstance(record, str) else None


class CopiesTopic(TopicSink):
    """An output topic of copied payments."""

    def __init__(self, reader: LogReader, *, topic: str, view: str, keyed: bool) -> None:
        """`keyed`: whether the digest includes the key."""
        super().__init__(reader, topic=topic, view=view)
        self._keyed = keyed

    def _effect(self, entry: Entry, ordinal: int) -> Effect:
        content = (entry.key, entry.value) if self._keyed else (entry.value,)
        return Effect(
            sink=self.name,
            view=self._view,
            record=record_of(entry.value),
            effect_key="",
            digest=digest(*content),
            position=f"{entry.topic}-{entry.partition}@{entry.offset}",
            ordinal=ordinal,
        )
