"""Helpers for faults of the Spark driver."""

from __future__ import annotations

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.subjects.spark.sink_of_batches import SinkOfBatches
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


def sink_of_batches(context: RunContext) -> SinkOfBatches:
    return SinkOfBatches(
        lambda: driver(context).checkpoint, reader=context.reader, open_sink=context.open_sink
    )
