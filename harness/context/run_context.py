"""What a fault gets to work with: the running parts of one run.

A fault reaches processes, links, clients and the sink only through this, so
that it works on every backend and every part can be replaced in a test.
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
"""How long brokers may take to tell the partitions of a topic."""


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """The parts of one run.

    Attributes:
        pipeline: it, while it runs.
        topics: every topic of the run, the workload's first.
        work: folder of what does not outlive the run.
        elsewhere: each topic that no Kafka broker keeps.
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
        """Topics that the workload goes to, which a pipeline has to come to the end of."""
        return self.producers.workload.topics

    def input_ends(self) -> Positions:
        """The high watermark of each partition of the inputs.

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
        """A fresh view of the cluster, as reported by brokers that can answer.

        `without` leaves out a broker whose word does not count.
        """
        return ClusterView(
            {
                node: address
                for node, address in addresses(self.stage).items()
                if node != without and self.answers(broker_name(node))
            }
        )

    def answers(self, node: str) -> bool:
        """Whether a broker can answer: it runs, and is not paused."""
        return self.stage.alive(node) and not self.stage.paused(node)

    def partitions(self, topic: str | None = None) -> list[Replicas]:
        """Every partition of a topic that exists (default: the input), as a broker reports them.

        A broker that was started a moment ago may not know the topic yet, and a busy one may not
        answer in time, so this asks until one does.

        Raises:
            Overdue: none did.
        """
        name = topic or self.topic

        def ask() -> list[Replicas]:
            with self.view() as view:
                return view.partitions(name)

        return wait_until(
            ask,
            what=f"a broker to tell the partitions of {name}",
            seconds=_METADATA_SECONDS,
            stop=self.stop,
        )

    def led_by(self, node: int, topic: str | None = None) -> set[int]:
        """Partitions of such a topic that a broker leads; raises as `partitions` does."""
        return {p.partition for p in self.partitions(topic) if p.leader == node}

    def views(self) -> dict[int, ClusterView]:
        """A view of every broker by itself, by its node id."""
        return {n: ClusterView({n: address}) for n, address in addresses(self.stage).items()}

    def reader(self) -> LogReader:
        """A fresh reader of logs; close it after use."""
        return open_reader(self.stage, self.view(), self.elsewhere)

    def open_sink(self, reader: LogReader) -> Sink:
        return self.subject.open_sink(
            database=self.stage.database(AUDITOR), reader=reader, work=self.work
        )


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What is known when a run has been collected, for faults whose hazard shows only then."""

    returned: Mapping[str, tuple[str, int]]
    """attempt → (outcome, when it was reported)."""


def open_reader(
    stage: Stage, view: ClusterView, elsewhere: Mapping[str, SinglePartitionLog] | None = None
) -> LogReader:
    """A reader over every broker's direct listener, and over what no broker keeps."""
    if elsewhere:
        return ReaderOfAll(view, addresses(stage), elsewhere)
    return LogReader(view, addresses(stage))


def addresses(stage: Stage) -> dict[int, str]:
    """The auditor's direct way to every broker, by node id."""
    return {node_id(name): stage.bootstrap(AUDITOR, name) for name in stage.brokers}


def fresh_reader(stage: Stage) -> LogReader:
    """A reader of its own over every broker of a stage, past all proxies; close it after use."""
    return open_reader(stage, ClusterView(addresses(stage)))
