"""Producers, with transactions or idempotent only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.lanes.sender import SenderLane
from onceproof.harness.explore.bench.subjects.base import Subject, Twin, struck
from onceproof.harness.explore.exploration import Load
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.librdkafka import Librdkafka


@dataclass(frozen=True, kw_only=True)
class ProducerSubject(Subject):
    """A producer.

    Attributes:
        transactional: whether it sends in transactions; otherwise it is only idempotent.
    """

    audience: ClassVar[str] = "producer"
    observed: ClassVar[bool] = True
    sender: Sender
    transactional: bool

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({self.sender.runtime} if self.sender.runtime else ())

    @property
    def name(self) -> str:
        return f"{self.sender.name}-{'transactional' if self.transactional else 'idempotent'}"

    @property
    def says(self) -> str:
        kind = "transactions" if self.transactional else "idempotent records"
        return f"{self.sender.name}, {kind}"

    @property
    def twin(self) -> Twin:
        """Without idempotence, a lost response causes a duplicate."""
        return _UNPROTECTED

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return SenderLane(
            name=name,
            load=load,
            around=around,
            sender=self.sender,
            transactional=self.transactional,
        )


_UNPROTECTED: Final = Twin(
    subject=ProducerSubject(sender=Librdkafka(idempotent=False), transactional=False),
    trial=struck("response lost @ producer/response/Produce/work/first/leader"),
    load=Load(transactions=3),
)
