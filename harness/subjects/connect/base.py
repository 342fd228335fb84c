"""Common parts of all connectors under test: their workers, and what they offer to faults."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.system import System
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.blocks import free_ports
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.subjects.connect.login import Login
from onceproof.harness.subjects.connect.offsets import OFFSETS
from onceproof.harness.subjects.connect.worker import (
    CONFIGS,
    GROUP,
    SETTINGS,
    STATUS,
    WorkerTask,
    connect_program,
)
from onceproof.harness.subjects.connect.workers import Workers
from onceproof.harness.subjects.group.positions import Committed
from onceproof.harness.workload.payments import Payment

WORKER: Final = "worker"
"""Offered to faults: workers to kill and pause, one of which runs the connector's task."""
FLUSH_MS: Final = 2_000
"""Offset flush interval without transactions; a run cannot wait for the default of 60 s."""


@dataclass(frozen=True, kw_only=True)
class ConnectSubject(SubjectBase, ABC):
    """A connector that copies payments, run by a group of workers."""

    workers: int = 2

    family = "kafka-connect"

    @property
    def system(self) -> System:
        return System.CONNECT

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"connect"})

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the subject and of its connector."""

    @property
    @abstractmethod
    def sink(self) -> str:
        """The topic or file that it writes to."""

    @property
    def plain_text(self) -> bool:
        """True: connectors keep their settings, credentials too, in a topic."""
        return True

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({WORKER})

    @property
    def atomic(self) -> bool:
        """Whether offsets are committed in the transactions of the records."""
        return False

    @property
    def worker_settings(self) -> Mapping[str, Any]:
        exactly = "enabled" if self.atomic else "disabled"
        return {
            **SETTINGS,
            "exactly.once.source.support": exactly,
            "offset.flush.interval.ms": FLUSH_MS,
        }

    @abstractmethod
    def connector(self, parts: PipelineParts) -> Mapping[str, Any]:
        """Return the connector's settings."""

    @abstractmethod
    def positions(self, parts: PipelineParts) -> Committed:
        """Return a reader of its committed offsets."""

    @property
    def own_topics(self) -> tuple[str, ...]:
        """Internal topics; the harness creates them, because Connect would use existing ones."""
        return (CONFIGS, OFFSETS, STATUS)

    @abstractmethod
    def yields(self, payments: Sequence[Payment]) -> Iterable[tuple[str, str]]:
        """Return (record, digest) of the copy that each payment should have."""

    def configuration(self) -> Mapping[str, Any]:
        return {"workers": dict(self.worker_settings) | {"number": self.workers}}

    def pipeline(self, parts: PipelineParts) -> Workers:
        """Create the internal topics and return the workers.

        Raises:
            SetupError: Kafka Connect cannot be downloaded.
            KafkaException: an internal topic cannot be created; it may exist already.
        """
        stage = parts.stage
        create_topics(
            stage.bootstrap(AUDITOR),
            list(self.own_topics),
            partitions=1,
            brokers=len(stage.brokers),
            settings={"cleanup.policy": "compact"},
        )
        stage.created(list(self.own_topics))
        plugins = parts.work / "plugins"  # must exist, though all plugins are on the class path
        plugins.mkdir(exist_ok=True)
        port = free_ports([parts.address], count=self.workers)
        tasks = [
            WorkerTask(
                name=f"worker-{number}",
                bootstrap=stage.bootstrap("pipeline"),
                group=GROUP,
                topic=parts.topic,
                sink=self.sink,
                commits="in-transaction" if self.atomic else "after",
                address=f"{parts.address}:{port + number}",
                settings={**self.worker_settings, "plugin.path": str(plugins)},
            )
            for number in range(self.workers)
        ]
        return Workers(
            tasks,
            parts,
            program=connect_program(parts.tools),
            login=Login.new(parts.work),
            connector=self.name,
            settings=self.connector(parts),
            positions=self.positions(parts),
        )
