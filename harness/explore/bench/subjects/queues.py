"""Forwarders between queues or streams."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.lanes.queue import QueueLane
from onceproof.harness.explore.bench.subjects.base import Subject, Twin, struck
from onceproof.harness.explore.exploration import Load
from onceproof.harness.explore.points import QUEUE_BROKER, WINDOW
from onceproof.harness.queues.base import Queues
from onceproof.harness.subjects.queue.moments import AFTER_COMMIT, BEFORE_COMMIT
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.tools.setup import Tools


@dataclass(frozen=True, kw_only=True)
class QueueSubject(Subject):
    """A forwarder between two queues."""

    lanes: ClassVar[int] = 6
    forwarder: QueueForwarder
    summary: str

    @property
    def runtimes(self) -> frozenset[str]:
        return self.forwarder.runtimes

    @property
    def name(self) -> str:
        return self.forwarder.name

    @property
    def says(self) -> str:
        return self.summary

    def queues(self, tools: Tools) -> Queues:
        return Queues(settings=self.forwarder.queue_broker, tools=tools)

    @property
    def twin(self) -> Twin:
        """Acknowledged after its effect, a message is delivered again and has a second one."""
        point = f"{QueueLane.role}/{WINDOW}/{BEFORE_COMMIT}/commit/first/{QUEUE_BROKER}"
        return Twin(
            subject=replace(
                self,
                forwarder=replace(self.forwarder, acknowledge="client", duplicate_ids=False),
            ),
            trial=struck(f"client killed @ {point}", ends=1, ended_by=AFTER_COMMIT),
            load=Load(transactions=3, records=1),
        )

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return QueueLane(
            name=name, load=load, around=around, subject=replace(self.forwarder, sink=name)
        )
