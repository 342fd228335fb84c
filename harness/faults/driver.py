"""What faults of the Spark driver have in common: it, its sink by batches, seeing it read again."""

from __future__ import annotations

from onceproof.harness.bench import Bench
from onceproof.harness.identity import RECORD_HEADER
from onceproof.harness.sinks.base import TellsBatches
from onceproof.harness.stage.base import StageTrouble
from onceproof.harness.stage.topology import Link
from onceproof.harness.subjects.spark import SparkPipeline
from onceproof.harness.wait import wait_until


def driver(bench: Bench) -> SparkPipeline:
    """The pipeline as what it must be for a fault that needs a `driver`.

    Raises:
        StageTrouble: what is on trial has none.
    """
    if not isinstance(bench.pipeline, SparkPipeline):
        raise StageTrouble(f"{bench.subject.name} has no Spark driver")
    return bench.pipeline


def wait_reads(bench: Bench) -> None:
    """Wait until the driver has a connection to a broker.

    Raises:
        Overdue: it has none in time.
        PipelineTrouble: it ended by itself.
    """
    ways = [Link("pipeline", node) for node in bench.stage.brokers]

    def reads() -> bool:
        bench.pipeline.check()
        return any(bench.stage.connections(way) for way in ways)

    wait_until(reads, what="the driver to connect to a broker", seconds=150, stop=bench.stop)


class SinkOfBatches:
    """The sink, looked at past all proxies; a reader of its own each time, for any thread."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def size(self) -> int:
        """See `SinkLook`."""
        with self._bench.reader() as reader:
            return self._bench.open_sink(reader).size()

    def of(self, batch: int) -> tuple[int, int]:
        """See `SinkLook`."""
        records: set[str] = set()
        with self._bench.reader() as reader:
            ranges = driver(self._bench).checkpoint.range_of(batch)
            for (topic, partition), (start, end) in ranges.items():
                log = reader.read(topic, partition, start)
                for entry, committed in zip(log.entries, log.committed(), strict=True):
                    if entry.offset < end and entry.kind == "data" and committed:
                        records.add(entry.headers.get(RECORD_HEADER, b"").decode())
            sink = self._bench.open_sink(reader)
            if isinstance(sink, TellsBatches):  # all of a batch, or nothing
                return (len(records) if batch in sink.batches() else 0), len(records)
            # What was sent again may have its effect from a batch before, or from another query's
            # batch of the same number, if effects tell.
            query = driver(self._bench).checkpoint.query_id()
            effects = {
                e.record
                for e in sink.effects()
                if e.batch in (None, batch) and e.owner in (None, query)
            }
        return len(records & effects), len(records)
