"""Forwarders: they consume payments from a queue and send them with their fee to another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from onceproof.harness.artemis.configuration import QueueSettings, consumed
from onceproof.harness.artemis.programs import artemis_programs
from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.system import System
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.processes.python import python_module
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.queue.forwarders import Forwarders
from onceproof.harness.subjects.queue.task import Acknowledge, ForwarderTask
from onceproof.harness.subjects.tasks import Program
from onceproof.harness.tools.proton import proton
from onceproof.harness.tools.setup import Tools

FORWARDER: Final = "forwarder"
"""Offered to faults: forwarders that can be killed and paused."""
Client = Literal["jms", "amqp"]
_SAYS: Final[dict[tuple[Client, Acknowledge], str]] = {
    ("jms", "transacted"): (
        "JMS forwarders with a transacted session: a message is consumed and its effect sent in "
        "one transaction."
    ),
    ("jms", "auto"): (
        "JMS forwarders with AUTO_ACKNOWLEDGE: a message is consumed when it is delivered, before "
        "its effect is sent: at-most-once only."
    ),
    ("jms", "client"): (
        "JMS forwarders with CLIENT_ACKNOWLEDGE: a message is acknowledged after its effect is "
        "sent: at-least-once only."
    ),
    ("amqp", "transacted"): (
        "AMQP 1.0 forwarders that accept a message and send its effect in one transaction."
    ),
    ("amqp", "client"): (
        "AMQP 1.0 forwarders that accept a message after the broker has accepted its effect: "
        "at-least-once only."
    ),
}
_WITH_IDS: Final = (
    " Each effect carries its message's id as duplicate id, by which the broker drops duplicates."
)
_PROGRAMS: Final[dict[Client, str]] = {
    "jms": "harness/artemis/Forwarder.java",
    "amqp": "harness/subjects/queue/amqp_forwarder.py",
}
_LACKS: Final = {
    "forgetful": " Broken twin: the broker forgets the duplicate ids when it restarts.",
    "narrow": " Broken twin: the broker's duplicate id cache is too small.",
}


@dataclass(frozen=True, kw_only=True)
class QueueForwarder(SubjectBase):
    """Forwarders under test.

    Attributes:
        client: the protocol; with AMQP no message is acknowledged before its effect.
        duplicate_ids: give each effect its message's id as `_AMQ_DUPL_ID`.
    """

    client: Client = "jms"
    acknowledge: Acknowledge = "transacted"
    duplicate_ids: bool = False
    forwarders: int = 2
    sink: str = "payments-with-fees"
    queue_broker: QueueSettings = field(default_factory=QueueSettings)

    from_queues = True
    view = "queue"

    def __post_init__(self) -> None:
        """Raise `ValueError` for what forwarders of this client cannot do."""
        if (self.client, self.acknowledge) == ("amqp", "auto"):
            raise ValueError(
                "client='amqp' does not support acknowledge='auto': expected 'transacted' or "
                "'client'"
            )

    @property
    def name(self) -> str:
        ids = "-ids" if self.duplicate_ids else ""
        return "-".join([f"{self.client}-forwarder-{self.acknowledge}{ids}", *self._lacks])

    @property
    def system(self) -> System:
        return System.QUEUE

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"artemis"})

    @property
    def says(self) -> str:
        ids = _WITH_IDS if self.duplicate_ids else ""
        says = _SAYS[self.client, self.acknowledge]
        return says + ids + "".join(_LACKS[what] for what in self._lacks)

    @property
    def _lacks(self) -> tuple[str, ...]:
        usual = QueueSettings()
        forgetful = self.queue_broker.persist_id_cache < usual.persist_id_cache
        narrow = self.queue_broker.id_cache_size < usual.id_cache_size
        return ("forgetful",) * forgetful + ("narrow",) * narrow

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
                "program": _PROGRAMS[self.client],
            },
            "duplicate detection": asdict(self.queue_broker),
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
                source=consumed(parts.topic),
                sink=self.sink,
                acknowledge=self.acknowledge,
                duplicate_ids=self.duplicate_ids,
                work=str(parts.work),
                history=str(parts.history),
            )
            for number in range(self.forwarders)
        ]
        return Forwarders(tasks, parts, program=program_of(self.client, parts.tools))

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return TopicSink(reader, topic=self.sink, view=self.view)


def program_of(client: Client, tools: Tools) -> Program:
    """Return how to start a forwarder; raise `SetupError` if it cannot be had."""
    if client == "jms":
        return partial(artemis_programs(tools).command, "Forwarder")
    folder = proton() or ""

    def command(task: Path) -> Sequence[str | Path]:
        return [*python_module("onceproof.harness.subjects.queue.amqp", str(folder)), task]

    return command
