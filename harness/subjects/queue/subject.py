"""Forwarders: they consume payments from a queue and send them with their fee to another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.system import System
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.queues.base import QueueSettings
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.queue.clients import CLIENTS, Client
from onceproof.harness.subjects.queue.forwarders import Forwarders
from onceproof.harness.subjects.queue.task import Acknowledge, ForwarderTask
from onceproof.harness.tools.runtimes.recipes import ARTEMIS

FORWARDER: Final = "forwarder"
"""Offered to faults: forwarders that can be killed and paused."""
_LACKS: Final = {
    "forgetful": "Broken twin: the broker forgets the duplicate ids when it restarts.",
    "narrow": "Broken twin: the broker forgets the duplicate ids too early.",
}


@dataclass(frozen=True, kw_only=True)
class QueueForwarder(SubjectBase):
    """Forwarders under test.

    Attributes:
        client: the client library, or protocol.
        duplicate_ids: give each effect its message's id, by which duplicates are recognized.
        broker: settings of the queue broker; None: the usual ones.
    """

    client: Client = "jms"
    acknowledge: Acknowledge = "transacted"
    duplicate_ids: bool = False
    forwarders: int = 2
    sink: str = "payments-with-fees"
    broker: QueueSettings | None = None

    from_queues = True
    view = "queue"

    def __post_init__(self) -> None:
        """Raise `ValueError` for what forwarders of this client cannot do."""
        known = CLIENTS[self.client].says
        if self.acknowledge not in known:
            raise ValueError(
                f"client={self.client!r} does not support acknowledge={self.acknowledge!r}: "
                f"expected {' or '.join(map(repr, known))}"
            )

    @property
    def name(self) -> str:
        ids = "-ids" if self.duplicate_ids else ""
        return "-".join(
            [f"{self.client}-forwarder-{self.acknowledge}{ids}", *self.queue_broker.lacks]
        )

    @property
    def system(self) -> System:
        return System.QUEUE

    @property
    def queue_broker(self) -> QueueSettings:
        return self.broker or CLIENTS[self.client].broker(self.acknowledge)

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({self.queue_broker.product} & {ARTEMIS})

    @property
    def says(self) -> str:
        client = CLIENTS[self.client]
        ids = (client.with_ids,) if self.duplicate_ids else ()
        lacks = (_LACKS[what] for what in self.queue_broker.lacks)
        return " ".join([client.says[self.acknowledge], *ids, *lacks])

    @property
    def queues(self) -> tuple[str, ...]:
        return (self.sink,)

    @property
    def plain_text(self) -> bool:
        """True: the queue broker has no TLS listener."""
        return True

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({FORWARDER})

    def configuration(self) -> Mapping[str, Any]:
        return {
            "forwarders": {
                "number": self.forwarders,
                "acknowledge": self.acknowledge,
                "duplicate_ids": self.duplicate_ids,
                "program": CLIENTS[self.client].program,
            },
            "duplicate detection": self.queue_broker.as_json(),
        }

    def pipeline(self, parts: PipelineParts) -> Forwarders:
        """Return the forwarders.

        Raises:
            SetupError: their program cannot be compiled or downloaded.
        """
        tasks = [
            ForwarderTask(
                name=f"forwarder-{number}",
                broker=parts.stage.queue_broker("pipeline"),
                source=self.queue_broker.source(parts.topic),
                sink=self.sink,
                acknowledge=self.acknowledge,
                duplicate_ids=self.duplicate_ids,
                work=str(parts.work),
                history=str(parts.history),
            )
            for number in range(self.forwarders)
        ]
        return Forwarders(tasks, parts, program=CLIENTS[self.client].start(parts.tools))

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return TopicSink(reader, topic=self.sink, view=self.view)
