"""Helpers for faults of the Spark driver."""

from __future__ import annotations

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.sinks.base import SinkWithBatches
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.wait import wait_until


def driver(context: RunContext) -> SparkPipeline:
    """Return the pipeline as `SparkPipeline`; raise `StageTrouble` if it has no driver."""
    if not isinstance(context.pipeline, SparkPipeline):
        raise StageTrouble(f"{context.subject.name} has no Spark driver")
    return context.pipeline


def wait_reads(context: RunContext) -> None:
    """Wait until the driver has a broker connection, or raise `Overdue` or `PipelineTrouble`."""
    ways = [Link("pipeline", node) for node in context.stage.brokers]

    def reads() -> bool:
        context.pipeline.check()
        return any(context.stage.connections(way) for way in ways)

    wait_until(reads, what="the driver to connect to a broker", seconds=150, stop=context.stop)


class SinkOfBatches:
    """The sink, bypassing the proxies. Each call has its own reader, so any thread may call it."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def size(self) -> int:
        with self._context.reader() as reader:
            return self._context.open_sink(reader).size()

    def of(self, batch: int) -> tuple[int, int]:
        records: set[str] = set()
        with self._context.reader() as reader:
            ranges = driver(self._context).checkpoint.range_of(batch)
            for (topic, partition), (start, end) in ranges.items():
                log = reader.read(topic, partition, start)
                for entry, committed in zip(log.entries, log.committed(), strict=True):
                    if entry.offset < end and entry.kind == "data" and committed:
                        records.add(entry.headers.get(RECORD_HEADER, b"").decode())
            sink = self._context.open_sink(reader)
            if isinstance(sink, SinkWithBatches):  # all of a batch, or nothing
                return (len(records) if batch in sink.batches() else 0), len(records)
            # The effect of a record that was sent again may be from an earlier batch, or from the
            # same batch number of another query, where effects carry these.
            query = driver(self._context).checkpoint.query_id()
            effects = {
                e.record
                for e in sink.effects()
                if e.batch in (None, batch) and e.owner in (None, query)
            }
        return len(records & effects), len(records)
