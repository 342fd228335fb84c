"""What all connectors on trial have in common: their workers, and what faults can aim at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.subject import SubjectBase
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
"""What a connector offers: workers that can be killed and paused, one of which has its task."""
FLUSH_MS: Final = 2_000
"""How often positions are committed without transactions; its default of 60 s no run can wait for.
"""


@dataclass(frozen=True, kw_only=True)
class ConnectSubject(SubjectBase, ABC):
    """A connector that copies payments, on two workers."""

    workers: int = 2

    family = "kafka-connect"

    @property
    @abstractmethod
    def name(self) -> str:
        """It and its connector."""

    @property
    @abstractmethod
    def sink(self) -> str:
        """What it writes to."""

    @property
    def plain_text(self) -> bool:
        """Connectors keep their settings in a topic."""
        return True

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({WORKER})

    @property
    def atomic(self) -> bool:
        """Whether positions are in the transactions of the records."""
        return False

    @property
    def worker_settings(self) -> Mapping[str, Any]:
        """In Kafka Connect's words."""
        exactly = "enabled" if self.atomic else "disabled"
        return {
            **SETTINGS,
            "exactly.once.source.support": exactly,
            "offset.flush.interval.ms": FLUSH_MS,
        }

    @abstractmethod
    def connector(self, parts: PipelineParts) -> Mapping[str, Any]:
        """The connector's settings, likewise."""

    @abstractmethod
    def positions(self, parts: PipelineParts) -> Committed:
        """Where it commits."""

    @property
    def own_topics(self) -> tuple[str, ...]:
        """What it keeps in topics of its own.

        They are made for it: Connect would make them too, or take those of somebody else.
        """
        return (CONFIGS, OFFSETS, STATUS)

    @abstractmethod
    def yields(self, payments: Sequence[Payment]) -> Iterable[tuple[str, str]]:
        """Every payment comes to its copy."""

    def configuration(self) -> Mapping[str, Any]:
        return {"workers": dict(self.worker_settings) | {"number": self.workers}}

    def pipeline(self, parts: PipelineParts) -> Workers:
        """Its workers.

        Raises:
            SetupError: Kafka Connect cannot be had.
            KafkaException: a topic of its own cannot be made; there may be one of that name.
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
        plugins = parts.work / "plugins"  # there must be a folder, and all stand on the class path
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
