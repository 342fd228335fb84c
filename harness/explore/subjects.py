"""What can be explored: producers, by client and by what they claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from onceproof.harness.workload.senders.aiokafka import AIOKAFKA
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.java import JAVA
from onceproof.harness.workload.senders.kafka_python import KAFKA_PYTHON
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA, Librdkafka


@dataclass(frozen=True, kw_only=True)
class ProducerSubject:
    """A producer.

    Attributes:
        transactional: whether it sends in transactions; otherwise it is only idempotent.
    """

    name: str
    sender: Sender
    transactional: bool


_SENDERS: Final[tuple[Sender, ...]] = (LIBRDKAFKA, JAVA, KAFKA_PYTHON, AIOKAFKA)
SUBJECTS: Final[Mapping[str, ProducerSubject]] = {
    subject.name: subject
    for sender in _SENDERS
    for transactional in (True, False)
    for subject in (
        ProducerSubject(
            name=f"{sender.name}-{'transactional' if transactional else 'idempotent'}",
            sender=sender,
            transactional=transactional,
        ),
    )
}
TWIN: Final = ProducerSubject(name="twin", sender=Librdkafka(idempotent=False), transactional=False)
"""The broken twin beside every batch: without idempotence, a lost response causes a duplicate."""
