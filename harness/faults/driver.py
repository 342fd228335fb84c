"""What faults of the Spark driver have in common: seeing it read again."""

from __future__ import annotations

from harness.bench import Bench
from harness.stage.topology import Link
from harness.wait import wait_until


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
