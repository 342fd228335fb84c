"""How much of a micro-batch is in its sink, as crash-point triggers ask."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink, SinkWithBatches
from onceproof.harness.subjects.spark.checkpoint import Checkpoint


class SinkOfBatches:
    """The sink, bypassing the proxies. Each call has its own reader, so any thread may call it."""

    def __init__(
        self,
        checkpoint: Callable[[], Checkpoint],
        *,
        reader: Callable[[], AbstractContextManager[LogReader]],
        open_sink: Callable[[LogReader], Sink],
    ) -> None:
        """`checkpoint` returns that of the query whose batches are asked for."""
        self._checkpoint, self._reader, self._open_sink = checkpoint, reader, open_sink

    def size(self) -> int:
        with self._reader() as reader:
            return self._open_sink(reader).size()

    def of(self, batch: int) -> tuple[int, int]:
        records: set[str] = set()
        checkpoint = self._checkpoint()
        with self._reader() as reader:
            for (topic, partition), (start, end) in checkpoint.range_of(batch).items():
                log = reader.read(topic, partition, start)
                for entry, committed in zip(log.entries, log.committed(), strict=True):
                    if entry.offset < end and entry.kind == "data" and committed:
                        records.add(entry.headers.get(RECORD_HEADER, b"").decode())
            sink = self._open_sink(reader)
            if isinstance(sink, SinkWithBatches):  # all of a batch, or nothing
                return (len(records) if batch in sink.batches() else 0), len(records)
            # The effect of a record that was sent again may be from an earlier batch, or from the
            # same batch number of another query, where effects carry these.
            query = checkpoint.query_id()
            effects = {
                e.record
                for e in sink.effects()
                if e.batch in (None, batch) and e.owner in (None, query)
            }
        return len(records & effects), len(records)
