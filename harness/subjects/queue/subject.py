"""Forwarders: they consume payments from a queue and send them with their fee to another one.

The one thing to know: one program serves them all; what tells them apart is when a message counts
as consumed, and whether its effect says which message it is of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.artemis.configuration import QueueSettings, consumed
from harness.kafka.log_reader import LogReader
from harness.sinks.base import Sink
from harness.sinks.topic import TopicSink
from harness.subjects.pipeline import PipelineParts
from harness.subjects.queue.forwarders import Forwarders
from harness.subjects.queue.task import Acknowledge, ForwarderTask

FORWARDER: Final = "forwarder"
"""What they offer: forwarders that can be killed and paused."""
_SAYS: Final[dict[Acknowledge, str]] = {
    "transacted": (
        "Forwarders whose session is transacted: a message counts as consumed in one transaction "
        "with its effect."
    ),
    "auto": (
        "Forwarders with AUTO_ACKNOWLEDGE: a message counts as consumed as soon as it was handed "
        "out, before its effect; at-most-once, and no more."
    ),
    "client": (
        "Forwarders with CLIENT_ACKNOWLEDGE: a message counts as consumed after its effect; "
        "at-least-once, and no more."
    ),
}
_WITH_IDS: Final = (
    " Each effect says which message it is of, and the broker drops what it has taken before."
)
_LACKS: Final = {
    "forgetful": " Broken twin: what the broker knows does not outlive its life.",
    "narrow": " Broken twin: the broker remembers few.",
}


@dataclass(frozen=True, kw_only=True)
class QueueForwarder:
    """Forwarders on trial.

    Attributes:
        acknowledge: when a message counts as consumed.
        duplicate_ids: each effect says which message it is of (`_AMQ_DUPL_ID`).
        forwarders: how many.
        sink: the address that they send to.
        queue_broker: settings of the broker.
    """

    acknowledge: Acknowledge = "transacted"
    duplicate_ids: bool = False
    forwarders: int = 2
    sink: str = "payments-with-fees"
    queue_broker: QueueSettings = field(default_factory=QueueSettings)

    balances = False
    sends = False
    output_topic = None
    view = "queue"

    @property
    def name(self) -> str:
        """E.g. `jms-forwarder-transacted`, `jms-forwarder-client-ids-narrow`."""
        ids = "-ids" if self.duplicate_ids else ""
        return "-".join([f"jms-forwarder-{self.acknowledge}{ids}", *self._lacks])

    @property
    def says(self) -> str:
        """What it promises."""
        ids = _WITH_IDS if self.duplicate_ids else ""
        return _SAYS[self.acknowledge] + ids + "".join(_LACKS[what] for what in self._lacks)

    @property
    def _lacks(self) -> tuple[str, ...]:
        """What a broken twin's broker lacks."""
        usual = QueueSettings()
        forgetful = self.queue_broker.persist_id_cache < usual.persist_id_cache
        narrow = self.queue_broker.id_cache_size < usual.id_cache_size
        return ("forgetful",) * forgetful + ("narrow",) * narrow

    @property
    def sinks(self) -> tuple[str, ...]:
        """The one that they send to."""
        return (self.sink,)

    @property
    def queues(self) -> tuple[str, ...]:
        """Likewise."""
        return (self.sink,)

    @property
    def offers(self) -> frozenset[str]:
        """Forwarders."""
        return frozenset({FORWARDER})

    def configuration(self) -> Mapping[str, Any]:
        """When they acknowledge, and how many they are."""
        return {
            "forwarders": {
                "number": self.forwarders,
                "acknowledge": self.acknowledge,
                "duplicate_ids": self.duplicate_ids,
                "program": "harness/artemis/Forwarder.java",
            },
            "duplicate detection": asdict(self.queue_broker),
        }

    def pipeline(self, parts: PipelineParts) -> Forwarders:
        """Its forwarders.

        Raises:
            SetupError: their program cannot be had.
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
        return Forwarders(tasks, parts, self.sink)

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        """The address that they send to, read as a log."""
        return TopicSink(reader, topic=self.sink, view=self.view)
