"""The running parts of one run.

Faults use them only through `RunContext`, so that they work on every backend and in tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from onceproof.harness.context.pipeline import Pipeline, Positions
from onceproof.harness.context.recorder import Recorder
from onceproof.harness.context.subject import Subject
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.metadata import ClusterView, Replicas
from onceproof.harness.kafka.single_partition_log import ReaderOfAll, SinglePartitionLog
from onceproof.harness.links.topology import AUDITOR, broker_name, node_id
from onceproof.harness.sinks.base import Sink
from onceproof.harness.stage.base import Stage
from onceproof.harness.wait import Stop, wait_until
from onceproof.harness.workload.control import Producers

_METADATA_SECONDS: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """The parts of one run.

    Attributes:
        topics: every topic of the run, the workload's first.
        elsewhere: logs of "topics" that are files or queues.
    """

    stage: Stage
    subject: Subject
    pipeline: Pipeline
    producers: Producers
    recorder: Recorder
    stop: Stop
    topic: str
    topics: tuple[str, ...]
    work: Path
    elsewhere: Mapping[str, SinglePartitionLog] = field(default_factory=dict)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Topics of the workload, which a pipeline must read to the end."""
        return self.producers.workload.topics

    def input_ends(self) -> Positions:
        """Return the high watermark of each input partition.

        Raises:
            UnreadableLog: one cannot be read now.
        """
        with self.reader() as reader:
            return {
                (topic, partition): end
                for topic in self.inputs
                for partition, (_, end) in reader.ends(topic).items()
            }

    def view(self, *, without: int | None = None) -> ClusterView:
        """Return a new view of the cluster from brokers that can answer, except node `without`."""
        return ClusterView(
            {
                node: address
                for node, address in addresses(self.stage).items()
                if node != without and self.answers(broker_name(node))
            }
        )

    def answers(self, node: str) -> bool:
        return self.stage.alive(node) and not self.stage.paused(node)

    def partitions(self, topic: str | None = None) -> list[Replicas]:
        """Return every partition of an existing topic (default: the input).

        Retry until a broker answers; it may have just started or be busy.

        Raises:
            Overdue: no broker answered.
        """
        name = topic or self.topic

        def ask() -> list[Replicas]:
            with self.view() as view:
                return view.partitions(name)

        return wait_until(
            ask,
            what=f"a broker to report the partitions of {name}",
            seconds=_METADATA_SECONDS,
            stop=self.stop,
        )

    def led_by(self, node: int, topic: str | None = None) -> set[int]:
        """Return the partitions that a broker leads; arguments and errors as in `partitions`."""
        return {p.partition for p in self.partitions(topic) if p.leader == node}

    def views(self) -> dict[int, ClusterView]:
        return {n: ClusterView({n: address}) for n, address in addresses(self.stage).items()}

    def reader(self) -> LogReader:
        """Return a new log reader; close it after use."""
        return open_reader(self.stage, self.view(), self.elsewhere)

    def open_sink(self, reader: LogReader) -> Sink:
        return self.subject.open_sink(
            database=self.stage.database(AUDITOR), reader=reader, work=self.work
        )


@dataclass(frozen=True, kw_only=True)
class Collected:
    """Facts that are known after collecting, for faults whose hazard shows only then."""

    returned: Mapping[str, tuple[str, int]]
    """attempt → (outcome, time of the report)."""


def open_reader(
    stage: Stage, view: ClusterView, elsewhere: Mapping[str, SinglePartitionLog] | None = None
) -> LogReader:
    """Return a reader of all brokers' logs that bypasses the proxies, and of logs `elsewhere`."""
    if elsewhere:
        return ReaderOfAll(view, addresses(stage), elsewhere)
    return LogReader(view, addresses(stage))


def addresses(stage: Stage) -> dict[int, str]:
    """Return the auditor's address of every broker, bypassing the proxies, by node id."""
    return {node_id(name): stage.bootstrap(AUDITOR, name) for name in stage.brokers}


def fresh_reader(stage: Stage) -> LogReader:
    """Return a new reader of all brokers that bypasses the proxies; close it after use."""
    return open_reader(stage, ClusterView(addresses(stage)))
